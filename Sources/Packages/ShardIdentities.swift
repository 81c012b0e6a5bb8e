internal import Foundation
internal import Shards
internal import Synchronization

/// Whether shards are what they are called, found out on a thread of its own while they are merged.
///
/// What is taken from a shard is checked body by body; this finds a whole shard under the name of another.
final class ShardIdentities: Sendable {
    private final class Stop: Sendable {
        let isAsked = Atomic(false)
    }
    private let stop = Stop()
    private let aside: Aside<Void>

    /// Starts to read all files.
    init(_ inputs: [MergeInput]) {
        aside = Aside("merge.identities") { [stop] in
            for input in inputs where !stop.isAsked.load(ordering: .relaxed) {
                do throws(ShardsError) {
                    let found = try Digest.ofFile(input.url).digest
                    guard found != input.digest else { continue }
                    throw ShardsError(
                        .digestMismatch,
                        "'\(input.url.path)' has SHA-256 \(found), expected \(input.digest). Fetch this batch again.")
                } catch {
                    throw PackagesError.blaming(input.digest, for: error)
                }
            }
        }
    }

    deinit { stop.isAsked.store(true, ordering: .relaxed) }

    /// Waits for the answer.
    ///
    /// - Parameter tick: Called now and then; what it throws ends the waiting.
    /// - Throws: `bad-shard` with the name of one that is another.
    func check(_ tick: () throws -> Void) throws { try aside.wait(tick) }

    /// The error that a wrong shard explains: it goes before the others that a merge may end with.
    func reason(of error: any Error, _ tick: () throws -> Void) -> any Error {
        guard let error = error as? PackagesError,
            [.missingTiles, .conflictingTiles, .verificationFailed].contains(error.code)
        else { return error }
        do {
            try check(tick)
            return error
        } catch let cause {
            return cause
        }
    }
}
