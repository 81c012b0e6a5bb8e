internal import Foundation
internal import Shards

/// The end of writing a file: it is sealed and flushed on one thread and read back on another.
enum Sealing {
    /// Seals a closed file, brings it to the medium, and has it read back meanwhile.
    ///
    /// - Parameters:
    ///   - seal: Seals it and returns the SHA-256 of the sealed file.
    ///   - readBack: Throws when the file is not what it is to be.
    /// - Returns: What `seal` returned.
    static func run(
        _ url: URL, _ seal: @escaping @Sendable (URL) throws -> Digest, readBack: () throws -> Void
    ) throws -> Digest {
        let aside = Aside("seal") {
            let digest = try seal(url)
            try Durable.sync(file: url)
            return digest
        }
        do {
            try readBack()
        } catch {
            _ = try? aside.wait()
            throw error
        }
        return try aside.wait()
    }

    /// Refuses a file that did not read back as it was written.
    ///
    /// The words name no file: it has a temporary name yet, and goes.
    ///
    /// - Parameter problems: What the read-back found; nothing is thrown when it is empty.
    /// - Throws: ``PackagesError`` `verification-failed`.
    static func refuse(_ problems: [String]) throws {
        guard let first = problems.first else { return }
        throw PackagesError(
            .verificationFailed,
            "What was written does not read back as it should, with \(problems.count) problems; the first: \(first). "
                + "It was not kept. The disk may be failing: write to another one; if it happens there too, this is a bug."
        )
    }
}
