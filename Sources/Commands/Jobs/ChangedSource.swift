/// Archives that are replaced while a job reads them.
enum ChangedSource {
    /// How often work is begun again; an archive that is written to all the time must not keep a command for ever.
    static let mostRestarts = 10

    /// Does the work, and again when its archive was replaced meanwhile.
    ///
    /// - Parameters:
    ///   - isWanted: Whether to do it again at all.
    ///   - work: Called with the number of earlier runs.
    /// - Throws: What `work` throws last.
    static func again(_ isWanted: Bool, _ work: (_ earlier: Int) async throws -> Void) async throws {
        var earlier = 0
        while true {
            do {
                return try await work(earlier)
            } catch let error as CLIError where isWanted && error.isOfChangedSource && earlier < mostRestarts {
                Console.note("the archive was replaced while it was read; beginning again with the new one")
                earlier += 1
            }
        }
    }
}
