internal import Files
internal import TileBodies

/// Packs the literals of a patch in sections, each with the stretch of the old file that is most like it.
///
/// What was before a change, and what it became, are mostly alike. So the prefix of a section is what lies in the old file between
/// the copies around its literals.
struct LiteralPacker {
    private let old: FileDescriptor
    private let new: FileDescriptor
    private let packer: PrefixPacker
    private let write: ([UInt8]) throws -> Void
    private var bytes: [UInt8] = []
    private var prefix: Range<UInt64>?
    /// The bytes that the literals of the section have around them, also those that several of them have.
    private var searched: UInt64 = 0
    /// How much further than its neighbours a literal is searched.
    private static let slack: UInt64 = 1 << 20
    /// From this size on, a literal between two places of the old file that are far apart is like both.
    private static let large: UInt64 = 65_536

    /// - Parameter write: Gets the sections in their order.
    init(
        old: FileDescriptor, new: FileDescriptor, packer: PrefixPacker, to write: @escaping ([UInt8]) throws -> Void
    ) {
        (self.old, self.new, self.packer, self.write) = (old, new, packer, write)
    }

    /// Adds bytes of the new file.
    ///
    /// - Parameters:
    ///   - range: Where they are.
    ///   - after: The end of what lies before them, in the old file.
    ///   - before: The begin of what lies behind them, in the old file; `nil` for the last ones.
    mutating func add(_ range: Range<UInt64>, after: UInt64, before: UInt64?) throws {
        let count = range.upperBound - range.lowerBound
        // Bytes of the old file that are gone belong to the prefix too.
        let isBetween = before.map { $0 >= after && $0 - after <= count + Self.slack } ?? true
        if isBetween || count < Self.large {
            let gone = isBetween ? before.map { $0 - min($0, after + count) } ?? 0 : 0
            return try add(range, from: after, gone: gone)
        }
        let half = range.lowerBound + count / 2
        try add(range.lowerBound..<half, from: after, gone: 0)
        let rest = range.upperBound - half
        try add(half..<range.upperBound, from: (before ?? 0) - min(before ?? 0, rest), gone: 0)
    }

    /// Writes the last section.
    mutating func finish() throws { try flush() }

    private mutating func add(_ range: Range<UInt64>, from source: UInt64, gone: UInt64) throws {
        var (next, source) = (range.lowerBound, source)
        while next < range.upperBound {
            let size = min(range.upperBound - next, UInt64(PackedSection.most - bytes.count))
            let wanted = stretch(source, size + gone, slack: min(Self.slack, max(16_384, 4 * size)))
            let (low, high) = (
                min(prefix?.lowerBound ?? .max, wanted.lowerBound), max(prefix?.upperBound ?? 0, wanted.upperBound)
            )
            let more = wanted.upperBound - wanted.lowerBound
            // Changes that are far apart are sections of their own: zstd would read everything between them.
            guard prefix == nil || high - low <= min(UInt64(PackedSection.mostPrefix), 2 * (searched + more)) else {
                try flush()
                continue
            }
            (prefix, searched) = (low..<high, searched + more)
            bytes += try new.read(at: next, count: Int(size))
            next += size
            source += size
            if bytes.count == PackedSection.most { try flush() }
        }
    }

    /// A stretch of the old file with what is around it, moved to where the file has bytes.
    private func stretch(_ place: UInt64, _ count: UInt64, slack: UInt64) -> Range<UInt64> {
        let size = min(count + 2 * slack, old.size, UInt64(PackedSection.mostPrefix))
        let start = min(place - min(place, slack), old.size - size)
        return start..<start + size
    }

    private mutating func flush() throws {
        guard !bytes.isEmpty else { return }
        defer { (bytes, prefix, searched) = ([], nil, 0) }
        let near = prefix ?? 0..<0
        let before = try old.read(at: near.lowerBound, count: near.count)
        let packed = packer.pack(bytes, after: before)
        let section = PackedSection(
            count: bytes.count, packed: packed?.count ?? 0, prefix: packed == nil ? 0..<0 : near)
        let plain = PackedSection(count: bytes.count, packed: 0, prefix: 0..<0)
        // The head of a packed section is longer.
        if let packed, section.encoded.count + packed.count < plain.encoded.count + bytes.count {
            try write(section.encoded + packed)
        } else {
            try write(plain.encoded + bytes)
        }
    }
}
