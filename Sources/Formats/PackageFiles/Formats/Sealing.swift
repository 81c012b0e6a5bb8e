package import Digests
internal import Files
package import Foundation
internal import TextFormats

/// Finishes a file: seals and flushes it on one thread, and reads it back on another.
package enum Sealing {
    /// Seals a closed file and flushes it to the medium; reads it back at the same time.
    ///
    /// - Parameters:
    ///   - seal: Seals it and returns the SHA-256 of the sealed file.
    ///   - readBack: Throws if the file does not have the expected content.
    /// - Returns: What `seal` returned.
    package static func run(
        _ url: URL, _ seal: @escaping @Sendable (URL) throws -> Digest, readBack: () throws -> Void
    ) throws -> Digest {
        let aside = BackgroundTask("seal") {
            let digest = try seal(url)
            try Durable.sync(file: url)
            return digest
        }
        do {
            try readBack()
        } catch {
            // Only waits for the end of the thread; the first error is reported.
            _ = try? aside.wait()
            throw error
        }
        return try aside.wait()
    }

    /// Refuses a file that did not read back as it was written.
    ///
    /// The message does not name the file: it still has a temporary name, and is removed.
    ///
    /// - Parameter problems: What the read-back found; nothing is thrown when it is empty.
    /// - Throws: ``PackagesError`` `verification-failed`.
    package static func refuse(_ problems: [String]) throws {
        guard let first = problems.first else { return }
        throw PackagesError(
            .verificationFailed,
            "The written file did not pass its read-back check: \(Units.count(problems.count, of: "problem")); the first: \(first). "
                + "The file was removed. The disk may be failing: write to another disk. If the error occurs there too, report a bug."
        )
    }
}
