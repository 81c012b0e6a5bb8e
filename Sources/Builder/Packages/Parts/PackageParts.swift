public import PackageFiles
public import Tiles

/// The files of a package that may not be larger than a limit, one after the other: the whole package, or its parts.
///
/// A part is planned, written by its caller, and measured: ``accept()`` goes on, ``reject(bytes:)`` plans it again with fewer tiles. The
/// sizes that are known before make that rare. What comes out depends on the tiles and the limit alone.
public struct PackageParts: Sendable {
    /// What is written next.
    public struct Part: Sendable {
        /// The number of the part, from 1; 0 for the whole package.
        public let number: UInt32
        /// Where its run of the Hilbert curve begins; the root for the whole package.
        public let first: TileID
        /// All tiles of the zooms below this number are in every part.
        public let common: Int
        /// The description of its file.
        public let spec: PackageSpec
        /// The shards that may have tiles of it.
        public let shards: [MergeInput]
        /// Bytes of the largest file, as far as is known before it is written.
        fileprivate let bytes: UInt64
        fileprivate let next: UInt64?
    }

    /// The largest number of parts.
    ///
    /// Their records fit a message, and a list of a catalog.
    public static let most: UInt32 = 256
    /// The smallest limit.
    ///
    /// Unit: bytes. A file with the tables of its format and few tiles has some 20 KiB.
    public static let leastLimit: UInt64 = 65_536

    /// What is written next; `nil` when all is accepted.
    public private(set) var current: Part?
    /// Tiles of the package that exist.
    public var stored: UInt64 { sizes.stored }

    private let spec: PackageSpec
    private let shards: [MergeInput]
    private let sizes: PartSizes
    private let limit: UInt64
    /// What a byte of the known sizes takes in the files that were written.
    private var scale = 1.0

    /// Reads the sizes of all tiles.
    ///
    /// Blocks while it reads the index of each shard, twice.
    /// - Parameters:
    ///   - formats: Every format that is written of a part; none stands for MBTiles alone.
    ///   - limit: The largest size of a file in bytes; at least ``leastLimit``.
    ///   - allowedMissing: How many tiles of the mask may be missing from all shards.
    ///   - progress: Called regularly. Throw from it (`CancellationError`) to stop.
    /// - Throws: ``PackagesError``: `missing-tiles`, `bad-shard`, and `too-large` when the tiles of one place do not fit a file.
    public init(
        _ spec: PackageSpec, shards: [MergeInput], formats: [PackageFormat], limit: UInt64, allowedMissing: UInt64 = 0,
        progress: () throws -> Void = {}
    ) throws {
        let inputs = Set(shards).sorted { $0.digest < $1.digest }
        let layouts = Set(formats.isEmpty ? [.mbtiles] : formats).compactMap(\.traits.layout)
        (self.spec, self.shards, self.limit) = (spec, inputs, limit)
        sizes = try PartSizes(
            spec, inputs, layouts: layouts, limit: limit, allowedMissing: allowedMissing, tick: progress)
        current =
            sizes.cut.total <= limit
            ? Part(
                number: 0, first: .root, common: 0, spec: spec, shards: inputs, bytes: sizes.cut.total, next: nil)
            : try part(1, from: 0)
    }

    /// Goes on behind the current part, all of whose files are small enough.
    ///
    /// - Throws: ``PackagesError`` `too-large`.
    public mutating func accept() throws(PackagesError) {
        guard let part = current else { return }
        current = nil
        if let place = part.next { current = try self.part(part.number + 1, from: place) }
    }

    /// Plans the current part again, with fewer tiles.
    ///
    /// - Parameter bytes: The size of its largest file.
    /// - Throws: ``PackagesError`` `too-large`.
    public mutating func reject(bytes: UInt64) throws(PackagesError) {
        guard let part = current else { return }
        scale *= max(1.01, 1.01 * Double(bytes) / Double(max(1, part.bytes)))
        // A whole package that is too large becomes parts.
        current = try self.part(max(1, part.number), from: part.number == 0 ? 0 : part.first.hilbertPlace)
    }

    private func part(_ number: UInt32, from place: UInt64) throws(PackagesError) -> Part {
        let cut = sizes.cut
        let part = try cut.part(from: place, limit: limit, scale: scale)
        guard number <= Self.most else {
            throw PackagesError(
                .tooLarge,
                "Package '\(spec.id)' would have more than \(Self.most) parts of at most \(limit) bytes. Use a larger --max-file."
            )
        }
        guard let first = TileID(hilbertPlace: part.first, zoom: cut.grid) else {
            throw PackagesError(.tooLarge, "Package '\(spec.id)' has no place \(part.first) at zoom \(cut.grid).")
        }
        let next = part.next.flatMap { TileID(hilbertPlace: $0, zoom: cut.grid) }
        var metadata = spec.metadata
        metadata.name += " \(number)"
        if let box = spec.mask.part(from: first, before: next, common: 0).bounds {
            metadata.bounds = box.within(metadata.bounds)
        }
        let own = PackageSpec(
            id: "\(spec.id)-\(number)", mask: spec.mask.part(from: first, before: next, common: cut.common),
            zooms: spec.zooms, metadata: metadata, formatVersion: spec.formatVersion)
        return Part(
            number: number, first: first, common: cut.common, spec: own, shards: sizes.inputs(of: part, among: shards),
            bytes: part.bytes, next: part.next)
    }
}

extension BoundingBox {
    /// What of this box lies in another one; the box itself where that crosses the antimeridian, or is elsewhere.
    fileprivate func within(_ other: BoundingBox) -> BoundingBox {
        let (left, right) = (max(west, other.west), min(east, other.east))
        guard !other.crossesAntimeridian, left < right else { return self }
        // A box whose south lies north of its north is no box.
        return
            (try? BoundingBox(
                west: left, south: max(south, other.south), east: right, north: min(north, other.north))) ?? self
    }
}
