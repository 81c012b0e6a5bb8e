import Errors
import Foundation
import PMTiles
import Testing
import TileBodies
import Tiles

/// Files that are written and read again.
struct PMTilesFileTests {
    private typealias Entry = PMTilesDirectory.Entry

    /// Thousands of tiles with runs, gaps, repeated bodies and leaf directories.
    private struct World {
        var sample = PMTilesSample()
        var entries: [Entry] = []
        var bodyOf: [UInt64: [UInt8]] = [:]

        init(entries count: Int, perLeaf: Int, compression: UInt8) {
            sample.header.internalCompression = compression
            var random = Random(UInt64(count))
            var known: [(offset: Int, body: [UInt8])] = []
            var tile: UInt64 = 0
            for _ in 0..<count {
                tile += UInt64(random.below(4) == 0 ? 1 + random.below(50) : 0)
                let run = UInt64(random.below(5) == 0 ? 1 + random.below(30) : 1)
                let (offset, body): (Int, [UInt8])
                if random.below(6) == 0, let old = known.indices.randomElement(at: random.below(max(1, known.count))) {
                    (offset, body) = known[old]
                } else {
                    (offset, body) = (
                        sample.bodies.count,
                        (0...random.below(40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                    )
                    known.append((offset, body))
                    sample.bodies += body
                }
                entries.append(Entry(tile: tile, run: run, length: UInt64(body.count), offset: UInt64(offset)))
                for one in tile..<tile + run { bodyOf[one] = body }
                tile += run
            }
            var root: [Entry] = []
            for start in stride(from: 0, to: entries.count, by: perLeaf) {
                root.append(sample.addLeaf(Array(entries[start..<min(start + perLeaf, entries.count)])))
            }
            let plain = PMTilesDirectory(entries: root).encoded
            sample.root = compression == PMTilesHeader.Compression.gzip ? Gzip.compress(plain) : plain
            sample.header.isClustered = true
        }
    }

    @Test(arguments: [PMTilesHeader.Compression.none, PMTilesHeader.Compression.gzip])
    func thousandsOfTilesComeBack(compression: UInt8) throws {
        let scratch = try Scratch()
        let world = World(entries: 6_000, perLeaf: 40, compression: compression)
        let file = try scratch.open(world.sample.bytes)
        #expect(file.header == world.sample.placed && file.size == UInt64(world.sample.bytes.count))
        let last = try #require(world.bodyOf.keys.max())
        #expect(last > 10_000 && world.bodyOf.count > 9_000)
        // More leaves than the reader caches, so that some are read again.
        for id in 0...last + 5 {
            let tile = try #require(TileID(hilbertID: id))
            #expect(try file.body(of: tile) == world.bodyOf[id], "tile \(id)")
            // Some file systems cannot tell what is in memory; then it is always nil.
            if let atOnce = try file.bodyAtOnce(of: tile) { #expect(atOnce == world.bodyOf[id] ?? [], "tile \(id)") }
        }
        var walked: [Entry] = []
        try file.walk { walked.append($0) }
        #expect(walked == world.entries)
        for entry in walked.prefix(50) {
            #expect(try file.body(at: entry.offset, length: entry.length) == world.bodyOf[entry.tile])
        }
    }

    @Test func manyThreadsReadOneFile() async throws {
        let scratch = try Scratch()
        let world = World(entries: 3_000, perLeaf: 20, compression: PMTilesHeader.Compression.gzip)
        let file = try scratch.open(world.sample.bytes)
        let bodies = world.bodyOf
        let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
            for seed in 0..<8 {
                group.addTask {
                    var random = Random(UInt64(seed))
                    var wrong = 0
                    for _ in 0..<2_000 {
                        let id = UInt64(random.below(6_000))
                        guard let tile = TileID(hilbertID: id) else { return 2_000 }
                        wrong += try file.body(of: tile) == bodies[id] ? 0 : 1
                    }
                    return wrong
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }

    /// Leaves below leaves, as deep as the reader goes.
    @Test func fourLevelsOfDirectoriesAreRead() throws {
        let scratch = try Scratch()
        var sample = PMTilesSample()
        sample.bodies = [7, 8, 9]
        var pointer = sample.addLeaf([Entry(tile: 9, run: 2, length: 3, offset: 0)])
        for _ in 0..<PMTilesHeader.maxDepth - 2 { pointer = sample.addLeaf([pointer]) }
        sample.root = PMTilesDirectory(entries: [pointer]).encoded
        let file = try scratch.open(sample.bytes)
        #expect(try file.body(of: try #require(TileID(hilbertID: 10))) == [7, 8, 9])
        #expect(try file.body(of: try #require(TileID(hilbertID: 11))) == nil)
        #expect(try file.body(of: .root) == nil)
    }

    @Test func metadataIsUnpacked() throws {
        let scratch = try Scratch()
        var sample = PMTilesSample([Entry(tile: 0, run: 1, length: 1, offset: 0)], bodies: [1])
        #expect(try scratch.open(sample.bytes).metadata() == [])
        let text = Array(#"{"name":"ß"}"#.utf8)
        sample.metadata = text
        #expect(try scratch.open(sample.bytes).metadata() == text)
        sample.header.internalCompression = PMTilesHeader.Compression.gzip
        (sample.root, sample.metadata) = (Gzip.compress(sample.root), Gzip.compress(text))
        #expect(try scratch.open(sample.bytes).metadata() == text)
        sample.metadata.removeLast(4)
        let file = try scratch.open(sample.bytes)
        #expect(try code { _ = try file.metadata() } == .badArchive)
    }

    @Test func aBodyBeyondTheLimitIsRefused() throws {
        let scratch = try Scratch()
        let sample = PMTilesSample(
            [Entry(tile: 0, run: 1, length: 10, offset: 0), Entry(tile: 1, run: 1, length: 11, offset: 10)],
            bodies: [UInt8](repeating: 5, count: 21))
        let file = try scratch.open(sample.bytes, limit: 10)
        #expect(try file.body(of: .root)?.count == 10)
        #expect(try code { _ = try file.body(of: try #require(TileID(hilbertID: 1))) } == .badTile)
        #expect(try code { _ = try file.body(at: 0, length: .max) } == .badArchive)
    }

    @Test func whatIsNoReadableFileIsUnreadable() throws {
        let scratch = try Scratch()
        for path in [scratch.file("absent").path, scratch.folder.path, "/dev/null", ""] {
            #expect(try code { _ = try PMTilesFile(path: path) } == .unreadable, "'\(path)'")
        }
    }

    /// Lists of all densities, in any order, with tiles that are not there and bodies that are too long.
    @Test func bodiesOfManyTilesAreThoseOfSingleOnes() throws {
        let scratch = try Scratch()
        let world = World(entries: 2_000, perLeaf: 300, compression: PMTilesHeader.Compression.gzip)
        let last = try #require(world.bodyOf.keys.max())
        var random = Random(4)
        for limit in [1_000, 12] {
            let file = try scratch.open(world.sample.bytes, limit: limit)
            for step in [1, 1, 3, 50, 400] {
                var ids: [UInt64] = []
                var id = UInt64(random.below(2_000))
                while ids.count < 300, id < last {
                    ids.append(id)
                    id += UInt64(1 + random.below(step))
                }
                if step == 3 { ids.reverse() }
                let tiles = ids.compactMap { TileID(hilbertID: $0) } + [.root, .root]
                var found: [TileID] = []
                try file.bodies(of: tiles) { tile, body in
                    found.append(tile)
                    let single = Result { () throws(ArchiveError) in try file.body(of: tile) }
                    switch (body, single) {
                    case (.success(let body), .success(let single)): #expect(body == single, "\(tile)")
                    case (.failure(let error), .failure(let single)):
                        #expect(error.code == .badTile && single.code == .badTile, "\(tile)")
                    default: Issue.record("\(tile): \(body), alone \(single)")
                    }
                }
                #expect(found == tiles)
            }
        }
    }

    @Test func aFileThatShrinksEndsTheReadingOfManyBodies() throws {
        let scratch = try Scratch()
        let world = World(entries: 500, perLeaf: 100, compression: PMTilesHeader.Compression.none)
        let url = scratch.file("a.pmtiles")
        try Data(world.sample.bytes).write(to: url)
        let file = try PMTilesFile(path: url.path)
        let handle = try FileHandle(forWritingTo: url)
        try handle.truncate(atOffset: UInt64(world.sample.bytes.count - 200))
        try handle.close()
        let tiles = world.bodyOf.keys.sorted().compactMap { TileID(hilbertID: $0) }
        #expect(try code { try file.bodies(of: tiles) { _, _ in } } == .badArchive)
    }

    /// Whole, and cut at many places: the same entries, bodies and errors.
    @Test func aFileInMemoryIsReadAsOneOnTheDisk() throws {
        let scratch = try Scratch()
        let bytes = World(entries: 3_000, perLeaf: 500, compression: PMTilesHeader.Compression.gzip).sample.bytes
        func read(_ open: () throws(ArchiveError) -> PMTilesFile) -> [String] {
            var said: [String] = []
            do {
                let file = try open()
                said.append("\(file.size) \(try file.metadata().count)")
                try file.walk { said.append("\($0) \(try file.body(at: $0.offset, length: $0.length).hashValue)") }
            } catch { said.append("\((error as? ArchiveError)?.code.description ?? "\(error)")") }
            return said
        }
        for count in Array(stride(from: 0, to: bytes.count, by: bytes.count / 40)) + [bytes.count] {
            let cut = Array(bytes.prefix(count))
            let disk = read { () throws(ArchiveError) in
                do { return try scratch.open(cut) } catch let error as ArchiveError { throw error } catch {
                    throw ArchiveError(.unreadable, "\(error)")
                }
            }
            #expect(read { () throws(ArchiveError) in try PMTilesFile(bytes: cut, path: "x") } == disk, "\(count)")
        }
    }

    @Test func aFileThatShrinksAfterItsOpeningIsBad() throws {
        let scratch = try Scratch()
        let sample = PMTilesSample(
            [Entry(tile: 0, run: 1, length: 4, offset: 0)], bodies: [UInt8](repeating: 5, count: 4))
        let url = scratch.file("a.pmtiles")
        try Data(sample.bytes).write(to: url)
        let file = try PMTilesFile(path: url.path)
        let handle = try FileHandle(forWritingTo: url)
        try handle.truncate(atOffset: UInt64(sample.bytes.count - 1))
        try handle.close()
        #expect(try code { _ = try file.body(of: .root) } == .badArchive)
    }
}

extension Range<Int> {
    /// An element by its number; `nil` in an empty range.
    fileprivate func randomElement(at number: Int) -> Int? { isEmpty ? nil : lowerBound + number }
}
