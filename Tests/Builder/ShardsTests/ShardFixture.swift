import Digests
import Foundation
import Shards
import TestSupport
import Testing
import Tiles

/// A folder of one test, removed with it.
final class Scratch {
    let folder: URL
    /// - Parameter rewrites: Whether one file is rewritten thousands of times, which ext4 flushes each time: memory is used
    ///   where there is some.
    init(rewrites: Bool = false) throws {
        let memory = URL(fileURLWithPath: "/dev/shm")
        let parent =
            rewrites && FileManager.default.isWritableFile(atPath: memory.path)
            ? memory : FileManager.default.temporaryDirectory
        folder = parent.appendingPathComponent("packhorse-shards-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    deinit { try? FileManager.default.removeItem(at: folder) }
    func file(_ name: String) -> URL { folder.appendingPathComponent(name) }
}

func tile(_ zoom: Int, _ x: Int, _ y: Int) throws -> TileID { try #require(TileID(zoom: zoom, x: x, y: y)) }

/// A tile with what an origin said about it; a `nil` body is an empty tile.
struct Sample: Hashable {
    let tile: TileID
    let body: [UInt8]?
    var etag: String?
    var modified: String?
}

/// Tiles of 6/33/20, zooms 6...10, a third of them sharing bodies and every ninth empty.
func samples(_ count: Int, bodyBytes: Int, seed: UInt64 = 1) throws -> [Sample] {
    var random = SplitMix(state: seed)
    let cell = try tile(6, 33, 20)
    var result: [Sample] = []
    for zoom in 6...12 {
        let side = 1 << (zoom - 6)
        for number in 0..<side * side where result.count < count {
            let id = try tile(zoom, cell.x * side + number % side, cell.y * side + number / side)
            let index = result.count
            if index % 9 == 8 {
                result.append(Sample(tile: id, body: nil))
                continue
            }
            let body = index % 3 == 2 ? [UInt8]("ocean \(index % 2)".utf8) : random.bytes(bodyBytes + index % 7)
            result.append(
                Sample(
                    tile: id, body: body, etag: index % 2 == 0 ? "\"\(index)-é\"" : nil,
                    modified: index % 5 == 0 ? "Sat, 21 Nov 2026 00:00:00 GMT" : nil))
        }
    }
    return result
}

@discardableResult
func write(_ samples: [Sample], to url: URL) throws -> ShardSummary {
    let header = ShardHeader(
        tileset: "demo", cell: try tile(6, 33, 20), zooms: try #require(ZoomRange(min: 6, max: 12)))
    let writer = try ShardWriter(temporary: url, header: header)
    for sample in samples {
        if let body = sample.body {
            try writer.add(sample.tile, body: body, etag: sample.etag, lastModified: sample.modified)
        } else {
            try writer.addEmpty(sample.tile)
        }
    }
    return try writer.finish()
}

/// Everything a shard says, read through the public API.
func read(_ url: URL, expecting: Digest? = nil) throws -> [Sample] {
    let reader = try ShardReader(url, expecting: expecting)
    return try reader.entries.map {
        Sample(tile: $0.tile, body: try reader.body($0), etag: $0.etag, modified: $0.lastModified)
    }
}

func bytes(_ url: URL) throws -> [UInt8] { [UInt8](try Data(contentsOf: url)) }
