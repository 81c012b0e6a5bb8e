import Errors
import Foundation
import PMTiles
import TileBodies

/// A folder that is removed with the test.
final class Scratch {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("pmtiles-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    // A folder that stays behind does not change the result of a test.
    deinit { try? FileManager.default.removeItem(at: folder) }

    func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

    /// Writes a file and opens it.
    func open(_ bytes: [UInt8], limit: Int = 64 << 20) throws -> PMTilesFile {
        let url = file("\(UUID().uuidString).pmtiles")
        try Data(bytes).write(to: url)
        return try PMTilesFile(path: url.path, limit: limit)
    }
}

/// The same numbers in every run.
struct Random {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }

    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}

/// A PMTiles file from its sections: header, root, metadata, leaves and bodies follow each other without gaps.
struct PMTilesSample {
    /// All but the sections.
    var header = PMTilesHeader()
    var root: [UInt8] = []
    var metadata: [UInt8] = []
    var leaves: [UInt8] = []
    var bodies: [UInt8] = []

    init() {
        header.internalCompression = PMTilesHeader.Compression.none
        header.tileCompression = PMTilesHeader.Compression.none
        header.format = .png
        header.maxZoom = 26
    }

    /// A file with one directory.
    init(_ entries: [PMTilesDirectory.Entry], bodies: [UInt8]) {
        self.init()
        root = PMTilesDirectory(entries: entries).encoded
        self.bodies = bodies
    }

    /// The header with the places of the sections.
    var placed: PMTilesHeader {
        var header = header
        header.root = .init(offset: UInt64(PMTilesHeader.size), length: UInt64(root.count))
        header.metadata = .init(offset: header.root.end, length: UInt64(metadata.count))
        header.leaves = .init(offset: header.metadata.end, length: UInt64(leaves.count))
        header.tiles = .init(offset: header.leaves.end, length: UInt64(bodies.count))
        return header
    }

    var bytes: [UInt8] { placed.encoded + root + metadata + leaves + bodies }

    /// Adds a leaf directory, and returns the entry that points to it.
    mutating func addLeaf(_ entries: [PMTilesDirectory.Entry], for tile: UInt64? = nil) -> PMTilesDirectory.Entry {
        var leaf = PMTilesDirectory(entries: entries).encoded
        if header.internalCompression == PMTilesHeader.Compression.gzip { leaf = Gzip.compress(leaf) }
        defer { leaves += leaf }
        return PMTilesDirectory.Entry(
            tile: tile ?? entries.first?.tile ?? 0, run: 0, length: UInt64(leaf.count), offset: UInt64(leaves.count))
    }
}

/// A number as a varint.
func varint(_ value: UInt64) -> [UInt8] {
    var rest = value
    var bytes: [UInt8] = []
    while rest >= 0x80 {
        bytes.append(UInt8(rest & 0x7F) | 0x80)
        rest >>= 7
    }
    return bytes + [UInt8(rest)]
}

/// The bytes of a directory from its four columns, which need not follow any rule.
func directory(tiles: [UInt64], runs: [UInt64], lengths: [UInt64], offsets: [UInt64]) -> [UInt8] {
    ([UInt64(tiles.count)] + tiles + runs + lengths + offsets).flatMap(varint)
}

/// The code of the error that `body` throws; `nil` when it throws none.
func code(of body: () throws -> Void) throws -> ArchiveErrorCode? {
    do {
        try body()
        return nil
    } catch let error as ArchiveError {
        return error.code
    }
}
