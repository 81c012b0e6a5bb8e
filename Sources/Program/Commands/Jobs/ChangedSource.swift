internal import CommandSupport

/// Archives that are replaced while a job reads them.
enum ChangedSource {
    /// Largest number of restarts.
    ///
    /// An archive that is written to all the time must not keep a command running without end.
    static let maxRestarts = 10

    /// Runs the work, and again if its archive was replaced meanwhile.
    ///
    /// - Parameters:
    ///   - isWanted: Whether to repeat it at all.
    ///   - work: Called with the number of earlier runs.
    /// - Throws: The last error of `work`.
    static func again(_ isWanted: Bool, _ work: (_ earlier: Int) async throws -> Void) async throws {
        var earlier = 0
        while true {
            do {
                return try await work(earlier)
            } catch let error as CLIError where isWanted && error.isOfChangedSource && earlier < maxRestarts {
                Console.note("the archive was replaced while it was read; starting over with the new one")
                earlier += 1
            }
        }
    }
}
