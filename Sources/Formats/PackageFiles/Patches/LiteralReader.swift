internal import Files
internal import TileBodies

/// The literals of a copy patch, from the first to the last.
///
/// Memory: 1 MiB; for packed ones a section, its packed bytes and its prefix, at most 16 MiB. Bounds are checked before memory is
/// allocated.
struct LiteralReader {
    private let patch: FileDescriptor
    private let kind: CopyPatchHeader.Literals
    private let oldSize: UInt64
    private let end: UInt64
    /// The first byte of the patch that is not read.
    private var next: UInt64
    /// The section that is open, and how much of it was taken.
    private var section: [UInt8] = []
    private var taken = 0
    private var unpacker: PrefixUnpacker?

    /// - Parameters:
    ///   - range: Where they are in the patch.
    ///   - oldSize: Bytes of the old file.
    init(_ patch: FileDescriptor, _ range: Range<UInt64>, kind: CopyPatchHeader.Literals, oldSize: UInt64) {
        (self.patch, self.kind, self.oldSize) = (patch, kind, oldSize)
        (next, end) = (range.lowerBound, range.upperBound)
    }

    /// How many bytes they are, unpacked, from the heads of the sections.
    ///
    /// - Throws: `bad-patch` when a head is wrong, or a section ends beyond the literals; `io`.
    func count() throws -> UInt64 {
        guard kind == .packed else { return end - next }
        var (rest, sum) = (self, UInt64(0))
        while rest.next < end {
            let head = try rest.head()
            rest.next += UInt64(head.stored)
            // At most 4 MiB for each byte of a file: below 2^63 for every file of less than 2 TiB, and checked for others.
            let (added, overflows) = sum.addingReportingOverflow(UInt64(head.count))
            guard !overflows else { throw damage }
            sum = added
        }
        return sum
    }

    /// The next bytes, in pieces.
    ///
    /// - Parameter old: The old file.
    /// - Throws: `bad-patch` when a section cannot be unpacked, or the literals end; `io`; what `each` throws.
    mutating func take(_ count: UInt64, from old: FileDescriptor, _ each: ([UInt8]) throws -> Void) throws {
        guard kind == .packed else {
            try CopyPatch.pieces(of: next..<next + count, in: patch, each)
            next += count
            return
        }
        var left = count
        while left > 0 {
            if taken == section.count { try open(old) }
            let size = Int(min(left, UInt64(section.count - taken)))
            try each(size == section.count ? section : Array(section[taken..<taken + size]))
            taken += size
            left -= UInt64(size)
        }
    }

    private mutating func open(_ old: FileDescriptor) throws {
        let head = try head()
        let bytes = try patch.read(at: next, count: head.stored)
        next += UInt64(head.stored)
        taken = 0
        // The memory of the section before is free when that of the next one is needed.
        section = []
        guard head.packed > 0 else {
            section = bytes
            return
        }
        if unpacker == nil { unpacker = PrefixUnpacker() }
        let prefix = try old.read(at: head.prefix.lowerBound, count: head.prefix.count)
        guard let unpacked = unpacker?.unpack(bytes, after: prefix, count: head.count) else { throw damage }
        section = unpacked
    }

    /// Reads the head of the next section, whose stored bytes are all there.
    private mutating func head() throws -> PackedSection {
        let bytes = try patch.read(at: next, count: Int(min(UInt64(PackedSection.longestHead), end - next)))
        var used = 0
        let head = PackedSection(oldSize: oldSize) { () -> UInt8? in
            guard used < bytes.count else { return nil }
            used += 1
            return bytes[used - 1]
        }
        guard let head, UInt64(head.stored) <= end - next - UInt64(used) else { throw damage }
        next += UInt64(used)
        return head
    }

    private var damage: PackagesError {
        PackagesError(.badPatch, "Patch '\(patch.path)' is damaged. Fetch it again.")
    }
}
