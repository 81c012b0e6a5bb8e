package import Digests
internal import Files
package import Foundation
internal import TextFormats

/// A sealed file as it is read back.
package enum SealedContent: Sendable {
    /// A file that is read from the disk piece by piece.
    case file(URL)
    /// All bytes of a small file, which were read from the disk, and its path.
    case bytes([UInt8], path: String)
}

/// Finishes a file: seals and flushes it on one thread, and reads it back on another.
package enum Sealing {
    /// Seals a file that is complete, closes it, and reads it back.
    ///
    /// A file in memory is sealed there, written with one call and read back with one call, all on this thread, and flushed where
    /// that is wanted. One on the disk is handled as by ``run(_:_:readBack:)``, and always flushed.
    ///
    /// - Parameters:
    ///   - isFlushed: Whether a small file must be on the medium at the end; a blob store flushes what it takes.
    ///   - seal: Seals the file and returns the SHA-256 of the sealed file.
    ///   - readBack: Throws if the file does not have the expected content.
    /// - Returns: What `seal` returned.
    package static func run(
        _ file: NewFile, isFlushed: Bool, _ seal: @escaping @Sendable (NewFile) throws -> Digest,
        readBack: (SealedContent) throws -> Void
    ) throws -> Digest {
        let url = file.url
        guard file.isInMemory else {
            try file.close()
            return try run(
                url,
                {
                    let file = try NewFile(changing: $0)
                    let digest = try seal(file)
                    try file.close()
                    return digest
                }, readBack: { try readBack(.file(url)) })
        }
        let digest = try seal(file)
        try file.close()
        if isFlushed { try Durable.sync(file: url) }
        let written = try FileDescriptor(reading: url)
        try readBack(.bytes(try written.read(at: 0, count: Int(clamping: written.size)), path: url.path))
        return digest
    }

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
