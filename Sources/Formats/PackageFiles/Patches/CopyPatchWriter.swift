internal import Digests
internal import Files
internal import Foundation
internal import TileBodies

/// Collects what a new file has in common with an old one, in the order of the new file, and writes the copy patch.
///
/// Memory: 512 steps; the others are in an unnamed file.
struct CopyPatchWriter {
    private let old: FileDescriptor
    private let new: FileDescriptor
    private let runs: Spool<CopyRun>
    /// The last step, whose copy can still grow.
    private var last = CopyRun(literal: 0, source: 0, copied: 0)
    /// The end of what is decided of the new file.
    private(set) var end: UInt64 = 0
    /// Bytes that are copied.
    private(set) var copied: UInt64 = 0

    /// - Parameter place: A path on the file system to use for steps.
    init(old: FileDescriptor, new: FileDescriptor, near place: URL) {
        (self.old, self.new) = (old, new)
        runs = Spool(near: place, limit: 512)
    }

    /// Says that bytes of the new file, not before ``end``, are those of the old file from `source` on.
    ///
    /// What lies between is literal.
    mutating func copy(_ place: UInt64, from source: UInt64, count: UInt64) throws {
        guard count > 0, place >= end else { return }
        if place == end, last.copied > 0, last.source + last.copied == source {
            last.copied += count
        } else {
            try flush()
            last = CopyRun(literal: place - end, source: source, copied: count)
        }
        end = place + count
        copied += count
    }

    /// Says that the bytes of the new file before and behind a place, not before ``end``, are like those of the old file around
    /// `source`, and that those before it are literal.
    mutating func note(_ place: UInt64, isNear source: UInt64) throws {
        guard place >= end else { return }
        try flush()
        try runs.append(CopyRun(literal: place - end, source: source, copied: 0))
        end = place
    }

    private mutating func flush() throws {
        if last.literal + last.copied > 0 { try runs.append(last) }
        last = CopyRun(literal: 0, source: 0, copied: 0)
    }

    /// Copies the stretches of a range of the new file that are equal to the bytes of the old file at the same distance.
    mutating func copyEqual(_ range: Range<UInt64>, asFrom source: UInt64) throws {
        guard source < old.size, range.lowerBound >= end else { return }
        let count = min(range.upperBound - range.lowerBound, old.size - source)
        var start: UInt64?
        var done: UInt64 = 0
        func close(_ first: UInt64?, at end: UInt64, _ writer: inout CopyPatchWriter) throws {
            guard let first, end - first >= Self.shortestCopy else { return }
            try writer.copy(range.lowerBound + first, from: source + first, count: end - first)
        }
        while done < count {
            let size = Int(min(65_536, count - done))
            let (left, right) = (
                try new.read(at: range.lowerBound + done, count: size), try old.read(at: source + done, count: size)
            )
            for index in 0..<size {
                if left[index] == right[index] {
                    if start == nil { start = done + UInt64(index) }
                } else {
                    try close(start, at: done + UInt64(index), &self)
                    start = nil
                }
            }
            done += UInt64(size)
        }
        try close(start, at: count, &self)
    }

    /// Shorter equal stretches cost more as a step than as literals, in bytes.
    private static let shortestCopy: UInt64 = 24

    /// Whether two ranges of the same length have the same bytes.
    func isEqual(_ place: UInt64, _ source: UInt64, count: UInt64) throws -> Bool {
        var done: UInt64 = 0
        while done < count {
            let size = Int(min(CopyPatch.pieceSize, count - done))
            guard try new.read(at: place + done, count: size) == old.read(at: source + done, count: size) else {
                return false
            }
            done += UInt64(size)
        }
        return true
    }

    /// Writes the patch; its bytes are a function of the two files.
    ///
    /// - Parameter packer: Packs the literals; `nil` leaves them as they are.
    mutating func finish(_ url: URL, packer: PrefixPacker? = nil) throws {
        try flush()
        last.literal = new.size - end
        try flush()
        let header = CopyPatchHeader(
            packer == nil ? .plain : .packed, oldSize: old.size, newSize: new.size, scriptSize: try script { _ in },
            old: try Self.digest(old),
            new: try Self.digest(new))
        let file = try FileDescriptor(creating: url)
        var hash = DigestHasher()
        func write(_ bytes: [UInt8]) throws {
            hash.update(bytes)
            try file.write(bytes)
        }
        try write(header.encoded)
        _ = try script(write)
        if let packer {
            try pack(packer, write)
        } else {
            try literals { range, _ in try CopyPatch.pieces(of: range, in: new, write) }
        }
        try file.write(hash.finish().bytes)
        try file.sync()
        try file.close()
    }

    /// Calls `each` with the literals before a copy or a note, and with this.
    private func literals(_ each: (_ range: Range<UInt64>, CopyRun) throws -> Void) throws {
        var place: UInt64 = 0
        try runs.walk { run in
            try each(place..<place + run.literal, run)
            place += run.literal + run.copied
        }
    }

    private func pack(_ packer: PrefixPacker, _ write: ([UInt8]) throws -> Void) throws {
        try withoutActuallyEscaping(write) { write in
            var sections = LiteralPacker(old: old, new: new, packer: packer, to: write)
            var after: UInt64 = 0
            try literals { range, run in
                let isLast = run.copied == 0 && range.upperBound == new.size
                if !range.isEmpty { try sections.add(range, after: after, before: isLast ? nil : run.source) }
                after = run.source + run.copied
            }
            try sections.finish()
        }
    }

    /// Encodes the steps, some thousand at a time; returns the number of bytes.
    private func script(_ write: ([UInt8]) throws -> Void) throws -> UInt64 {
        var coder = CopyScriptCoder()
        var bytes: [UInt8] = []
        var count: UInt64 = 0
        func flush() throws {
            count += UInt64(bytes.count)
            try write(bytes)
            bytes.removeAll(keepingCapacity: true)
        }
        var literal: UInt64 = 0
        try runs.walk { run in
            literal += run.literal
            guard run.copied > 0 else { return }
            coder.encode(CopyRun(literal: literal, source: run.source, copied: run.copied), into: &bytes)
            literal = 0
            if bytes.count >= 65_536 { try flush() }
        }
        if literal > 0 { coder.encode(CopyRun(literal: literal, source: 0, copied: 0), into: &bytes) }
        try flush()
        return count
    }

    private static func digest(_ file: FileDescriptor) throws -> Digest {
        var hash = DigestHasher()
        try CopyPatch.pieces(of: 0..<file.size, in: file) { hash.update($0) }
        return hash.finish()
    }
}
