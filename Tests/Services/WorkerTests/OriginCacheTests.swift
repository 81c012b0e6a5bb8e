import Foundation
import Origins
import Testing
import Tilesets

@testable import Worker

/// An open file is used by all batches until another one has its name or its bytes change.
struct OriginCacheTests {
    /// A PMTiles file without tiles.
    static let archive: [UInt8] = {
        func little(_ value: Int) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        var file = Array("PMTiles".utf8) + [3]
        // The root directory has one byte, metadata two; no leaves, no tiles.
        for (offset, count) in [(127, 1), (128, 2), (130, 0), (130, 0)] { file += little(offset) + little(count) }
        file += [UInt8](repeating: 0, count: 24) + [0, 1, 1, 1, 0, 2] + [UInt8](repeating: 0, count: 25)
        return file + [0] + Array("{}".utf8)
    }()

    @Test func aFileThatIsReplacedOrWrittenToIsOpenedAnew() async throws {
        let stable = try Stable()
        defer { stable.remove() }
        let file = stable.folder.appendingPathComponent("a.pmtiles")
        try Data(Self.archive).write(to: file)
        let tileset = try TilesetFile(
            text: "{id: a, url: 'pmtiles:a.pmtiles', format: pbf, zoom: 0-2}", name: "a.yaml", folder: stable.folder
        ).resolved().canonicalJSON
        let cache = OriginCache(environment: [:])
        func open() async throws -> any TileOrigin { try await cache.origin(of: Array(tileset)) }
        func areOne(_ left: any TileOrigin, _ right: any TileOrigin) -> Bool {
            (left as AnyObject) === (right as AnyObject)
        }
        let first = try await open()
        #expect(areOne(first, try await open()))
        let other = stable.folder.appendingPathComponent("other")
        try Data(Self.archive).write(to: other)
        #expect(rename(other.path, file.path) == 0)
        let second = try await open()
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data([0]))
        try handle.close()
        let third = try await open()
        #expect(!areOne(first, second) && !areOne(second, third))
        #expect(areOne(third, try await open()))
        try FileManager.default.removeItem(at: file)
        await #expect(throws: WorkFailure.self) { try await open() }
    }
}

extension OriginCache {
    fileprivate func origin(of tileset: [UInt8]) async throws -> any TileOrigin {
        try await open(tileset, budget: "").origin
    }
}
