public import Digests
public import Errors
public import Files
public import Foundation
internal import Tiles

/// The output of `packhorse inspect` for a shard.
public struct ShardInspection: Sendable, Codable {
    /// The file.
    public let path: String
    /// Bytes and SHA-256 of the file.
    public let size: UInt64
    /// SHA-256 of the file: the name it should have in a blob store.
    public let digest: Digest
    /// The tileset's id.
    public let tileset: String
    /// The tile above all of the shard's tiles, as z/x/y.
    public let cell: String
    /// The zooms, as "min-max".
    public let zooms: String
    /// Tiles with a body.
    public let stored: Int
    /// Tiles without one.
    public let empty: Int
    /// Different bodies.
    public let distinct: Int
    /// LZ4 frames of bodies.
    public let groups: Int
    /// Bytes of the different bodies together.
    public let bodyBytes: UInt64
    /// Bytes of the compressed index.
    public let indexBytes: Int
    /// Stored tiles per zoom, lowest zoom first.
    public let tilesPerZoom: [ZoomCount]
    /// The bodies that most tiles have; `nil` when all bodies are rare.
    public let bodies: [FrequentBody]?

    /// Tiles of one zoom.
    public struct ZoomCount: Sendable, Codable, Hashable {
        /// The zoom.
        public let zoom: Int
        /// Tiles with a body.
        public let stored: Int
        /// Tiles without one.
        public let empty: Int
    }

    /// Reads a complete shard, checks every body, and summarises it.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - visit: Called with every tile, ascending by tile.
    /// - Throws: What ``ShardReader`` throws, and what `visit` throws.
    public static func run(_ url: URL, visit: (ShardEntry) throws -> Void = { _ in }) throws -> ShardInspection {
        let (digest, size) = try Digest.ofFile(url)
        let reader = try ShardReader(url)
        for body in reader.bodies { _ = try reader.bytes(of: body) }
        var counts: [Int: (stored: Int, empty: Int)] = [:]
        var tally = BodyTally()
        for entry in reader.entries {
            if let body = entry.body { tally.add(body.digest, bytes: body.length) }
            if entry.body == nil {
                counts[entry.tile.zoom, default: (0, 0)].empty += 1
            } else {
                counts[entry.tile.zoom, default: (0, 0)].stored += 1
            }
            try visit(entry)
        }
        let stored = reader.entries.count { $0.body != nil }
        return ShardInspection(
            path: url.path, size: size, digest: digest, tileset: reader.header.tileset,
            cell: reader.header.cell.description, zooms: reader.header.zooms.description, stored: stored,
            empty: reader.entries.count - stored, distinct: reader.bodies.count,
            groups: (reader.bodies.last?.group ?? -1) + 1,
            bodyBytes: reader.bodies.reduce(0) { $0 + UInt64($1.length) }, indexBytes: reader.indexBytes,
            tilesPerZoom: counts.keys.sorted().map { zoom in
                let count = counts[zoom, default: (0, 0)]
                return ZoomCount(zoom: zoom, stored: count.stored, empty: count.empty)
            }, bodies: tally.frequent.isEmpty ? nil : tally.frequent)
    }

    /// Whether a file begins with a shard header; `inspect` uses it to identify files.
    ///
    /// - Throws: `io` when the file cannot be read.
    public static func looksLikeShard(_ url: URL) throws(StorageError) -> Bool {
        let file = try FileDescriptor(reading: url)
        guard file.size >= 16 else { return false }
        return try Array(file.read(at: 8, count: 8)) == ShardHeader.signature
    }
}
