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

    /// - Throws: `verification-failed` when there are problems.
    static func refuse(_ url: URL, _ problems: [String]) throws {
        guard let first = problems.first else { return }
        throw PackagesError(
            .verificationFailed,
            "'\(url.path)' failed its verification with \(problems.count) problems; the first: \(first).")
    }
}
