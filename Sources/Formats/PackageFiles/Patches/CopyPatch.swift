internal import Digests
internal import Files
internal import Foundation
internal import TileBodies

/// A patch that is copies of the old file and literal bytes: that of a PMTiles archive (docs/formats/pmtiles-patch.md), or of a
/// companion, with packed literals (docs/formats/companion-patch.md).
///
/// Total on hostile files: sums and ranges are checked before a byte of the result is written, and memory does not depend
/// on what the file says.
struct CopyPatch {
    /// The file, for errors.
    let path: String
    /// What its first bytes say.
    let header: CopyPatchHeader
    private let file: FileDescriptor
    /// Bytes that are read at once.
    static let pieceSize: UInt64 = 1 << 20

    /// Opens a patch and checks all of it: its own SHA-256, and that its script makes a file of the promised size out of
    /// the literals and the old file, with nothing left over.
    ///
    /// Reads the whole patch.
    /// - Throws: `bad-patch`; `io` when the file cannot be read.
    init(_ url: URL) throws {
        path = url.path
        file = try FileDescriptor(reading: url)
        let head = try file.read(at: 0, count: Int(min(file.size, CopyPatchHeader.size)))
        if let version = CopyPatchHeader.version(head), CopyPatchHeader.Literals(rawValue: version) == nil {
            throw PackagesError(
                .badPatch,
                "Patch '\(url.path)' is of version \(version) of its format; this build reads versions 1 and 2. Update "
                    + "packhorse, or fetch the whole file.")
        }
        guard let header = CopyPatchHeader(head, fileSize: file.size) else {
            throw PackagesError(.badPatch, "'\(url.path)' is no patch of copies, or its head is damaged.")
        }
        guard header.literals == .plain || PrefixUnpacker.isAvailable else {
            throw PackagesError(
                .badPatch, "Patch '\(url.path)' needs zstd, which this build does not have. Fetch the whole file.")
        }
        self.header = header
        try checkDigest()
        try checkScript()
    }

    /// Whether a file begins as a copy patch.
    ///
    /// - Throws: `io`.
    static func isMeant(_ url: URL) throws -> Bool {
        do throws(StorageError) {
            let file = try FileDescriptor(reading: url)
            return try file.read(at: 0, count: Int(min(file.size, 16))).starts(with: CopyPatchHeader.mark)
        } catch { throw PackagesError.wrapping(error, path: url.path) }
    }

    private var damage: PackagesError {
        PackagesError(.badPatch, "Patch '\(path)' is damaged. Fetch it again.")
    }

    private func checkDigest() throws {
        var hash = DigestHasher()
        let end = file.size - CopyPatchHeader.trailer
        try Self.pieces(of: 0..<end, in: file) { hash.update($0) }
        guard try file.read(at: end, count: Int(CopyPatchHeader.trailer)) == hash.finish().bytes else { throw damage }
    }

    private func checkScript() throws {
        var (literals, made): (UInt64, UInt64) = (0, 0)
        try script { run in
            // Each copy is within the old file; the sum of copies has no limit of its own.
            let step = run.literal.addingReportingOverflow(run.copied)
            guard !step.overflow, step.partialValue > 0, step.partialValue <= header.newSize - made else {
                throw damage
            }
            made += step.partialValue
            literals += run.literal
        }
        guard made == header.newSize, try literalReader().count() == literals else { throw damage }
    }

    /// The literals, which follow the script.
    private func literalReader() -> LiteralReader {
        LiteralReader(
            file, CopyPatchHeader.size + header.scriptSize..<file.size - CopyPatchHeader.trailer,
            kind: header.literals, oldSize: header.oldSize)
    }

    /// Calls `each` for the steps of the script.
    private func script(_ each: (CopyRun) throws -> Void) throws {
        var coder = CopyScriptCoder()
        var next = CopyPatchHeader.size
        let end = next + header.scriptSize
        var (piece, place): ([UInt8], Int) = ([], 0)
        func byte() throws -> UInt8? {
            if place == piece.count {
                guard next < end else { return nil }
                piece = try file.read(at: next, count: Int(min(65_536, end - next)))
                (next, place) = (next + UInt64(piece.count), 0)
            }
            place += 1
            return piece[place - 1]
        }
        while next < end || place < piece.count {
            guard let run = try coder.decode(limit: header.oldSize, byte) else { throw damage }
            try each(run)
        }
    }

    /// Makes the new file's bytes, in order.
    ///
    /// - Parameter old: A file with the size and SHA-256 that the header names; see ``checkOld(_:)``.
    /// - Returns: Their SHA-256.
    func run(on old: FileDescriptor, _ write: ([UInt8]) throws -> Void) throws -> Digest {
        var hash = DigestHasher()
        var literals = literalReader()
        func add(_ bytes: [UInt8]) throws {
            hash.update(bytes)
            try write(bytes)
        }
        try script { run in
            try literals.take(run.literal, from: old, add)
            try Self.pieces(of: run.source..<run.source + run.copied, in: old, add)
        }
        return hash.finish()
    }

    /// Applies a patch without writing the result, and compares the SHA-256.
    ///
    /// - Parameters:
    ///   - file: The patch, before it has its name.
    ///   - source: The old file, open.
    ///   - counts: What it changes; gets the digests of both sides.
    /// - Throws: `verification-failed`; `io`.
    static func proven(
        _ file: URL, on source: FileDescriptor, _ counts: PatchCounts, from old: URL, to new: URL, named target: URL
    ) throws -> PatchReceipt {
        let made = try CopyPatch(file)
        guard try made.run(on: source, { _ in }) == made.header.new else {
            throw PackagesError(
                .verificationFailed, "Patch '\(target.path)' does not turn '\(old.path)' into '\(new.path)'.")
        }
        var counts = counts
        (counts.before, counts.after) = (made.header.old.hex, made.header.new.hex)
        let (digest, size) = try Digest.ofFile(file)
        return PatchReceipt(counts: counts, digest: digest, size: size, isExact: true)
    }

    /// Refuses a file that the patch is not for.
    ///
    /// - Throws: `patch-mismatch`; `io`.
    func checkOld(_ old: FileDescriptor) throws {
        var found: Digest?
        if old.size == header.oldSize {
            var hash = DigestHasher()
            try Self.pieces(of: 0..<old.size, in: old) { hash.update($0) }
            found = hash.finish()
        }
        guard found == header.old else {
            let words = found.map { "SHA-256 \($0)" } ?? "\(old.size) bytes"
            throw PackagesError(
                .patchMismatch,
                "Patch '\(path)' is for a file of \(header.oldSize) bytes with SHA-256 \(header.old); '\(old.path)' has "
                    + "\(words). Fetch the patch from that version, or the whole package.")
        }
    }

    /// Reads a range in pieces.
    static func pieces(of range: Range<UInt64>, in file: FileDescriptor, _ each: ([UInt8]) throws -> Void) throws {
        var next = range.lowerBound
        while next < range.upperBound {
            let piece = try file.read(at: next, count: Int(min(pieceSize, range.upperBound - next)))
            try each(piece)
            next += UInt64(piece.count)
        }
    }
}
