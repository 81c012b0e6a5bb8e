import Errors
import Foundation
import PMTiles
import Testing
import TileBodies
import Tiles

/// Files that were made to harm: each of them is refused, and none traps, loops or takes much memory.
struct PMTilesHostileTests {
    private typealias Entry = PMTilesDirectory.Entry

    private func walkCode(_ sample: PMTilesSample) throws -> ArchiveErrorCode? {
        let scratch = try Scratch()
        let file = try scratch.open(sample.bytes)
        return try code { try file.walk { _ in } }
    }

    private func leaves(_ make: (inout PMTilesSample) -> [Entry]) -> PMTilesSample {
        var sample = PMTilesSample()
        sample.bodies = [1, 2, 3, 4]
        sample.root = PMTilesDirectory(entries: make(&sample)).encoded
        return sample
    }

    @Test func aLeafThatPointsToItselfEnds() throws {
        // One entry takes five bytes; its own place is offset 0.
        let sample = leaves { sample in
            let itself = Entry(tile: 0, run: 0, length: 5, offset: 0)
            #expect(sample.addLeaf([itself]) == itself)
            return [itself]
        }
        #expect(try walkCode(sample) == .badArchive)
        let scratch = try Scratch()
        let file = try scratch.open(sample.bytes)
        #expect(try code { _ = try file.body(of: .root) } == .badArchive)
    }

    @Test func twoLeavesThatPointToEachOtherEnd() throws {
        let sample = leaves { sample in
            _ = sample.addLeaf([Entry(tile: 0, run: 0, length: 5, offset: 5)])
            _ = sample.addLeaf([Entry(tile: 0, run: 0, length: 5, offset: 0)])
            #expect(sample.leaves.count == 10)
            return [Entry(tile: 0, run: 0, length: 5, offset: 0)]
        }
        #expect(try walkCode(sample) == .badArchive)
    }

    @Test func oneLevelTooManyIsRefused() throws {
        let sample = leaves { sample in
            var pointer = sample.addLeaf([Entry(tile: 0, run: 1, length: 4, offset: 0)])
            for _ in 0..<PMTilesHeader.maxDepth - 1 { pointer = sample.addLeaf([pointer]) }
            return [pointer]
        }
        #expect(try walkCode(sample) == .badArchive)
        let scratch = try Scratch()
        let file = try scratch.open(sample.bytes)
        #expect(try code { _ = try file.body(of: .root) } == .badArchive)
    }

    @Test func overlapsAndWrongOrderAreRefused() throws {
        let body = Entry(tile: 0, run: 1, length: 4, offset: 0)
        func run(_ tile: UInt64, _ count: UInt64) -> Entry { Entry(tile: tile, run: count, length: 4, offset: 0) }
        #expect(try walkCode(leaves { _ in [run(0, 5), run(5, 1)] }) == nil)
        #expect(try walkCode(leaves { _ in [run(0, 6), run(5, 1)] }) == .badArchive, "a run reaches the next entry")
        let early = leaves { [run(0, 9), $0.addLeaf([run(8, 1)])] }
        #expect(try walkCode(early) == .badArchive, "a leaf begins within a run before it")
        let late = leaves { [$0.addLeaf([run(3, 1), run(4, 10)]), run(13, 1)] }
        #expect(try walkCode(late) == .badArchive, "a leaf reaches beyond the next entry")
        let other = leaves { [$0.addLeaf([run(4, 1)], for: 3)] }
        #expect(try walkCode(other) == .badArchive, "a leaf begins with another tile than its pointer")
        let twice = leaves { sample in
            let leaf = sample.addLeaf([body])
            return [leaf, Entry(tile: 1, run: 0, length: leaf.length, offset: leaf.offset)]
        }
        #expect(try walkCode(twice) == .badArchive, "two pointers name one leaf")
        let empty = leaves { [$0.addLeaf([], for: 3)] }
        #expect(try walkCode(empty) == .badArchive, "a leaf is empty")
    }

    @Test(arguments: [(UInt64(4), UInt64(1)), (0, 5), (3, 2), (1 << 63, 1), (.max - 1, 1), (0, .max)])
    func placesOutsideTheirSectionAreRefused(offset: UInt64, length: UInt64) throws {
        let scratch = try Scratch()
        for run in [1, 0] as [UInt64] {
            let sample = leaves { sample in
                sample.leaves = [0, 0, 0, 0]
                return [Entry(tile: 0, run: run, length: length, offset: offset)]
            }
            #expect(try walkCode(sample) == .badArchive)
            let file = try scratch.open(sample.bytes)
            #expect(try code { _ = try file.body(of: .root) } == .badArchive)
        }
    }

    /// The file is sparse: it takes no space.
    @Test func aDirectoryOfMoreThanTheLimitIsNotRead() throws {
        let scratch = try Scratch()
        for (length, expected) in [(PMTilesHeader.maxDirectory + 1, "the limit is"), (40, "damaged directory")] {
            var header = PMTilesSample().placed
            header.root = .init(offset: 127, length: length)
            var sample = header.encoded
            sample += [0xFF, 0xFF]
            let url = scratch.file("sparse.pmtiles")
            try Data(sample).write(to: url)
            let handle = try FileHandle(forWritingTo: url)
            try handle.truncate(atOffset: 1 << 34)
            try handle.close()
            let error = #expect(throws: ArchiveError.self) { try PMTilesFile(path: url.path) }
            #expect(error?.code == .badArchive && error?.message.contains(expected) == true, "\(error?.message ?? "")")
        }
    }

    @Test func aDirectoryThatUnpacksToMoreThanTheLimitIsRefused() throws {
        let scratch = try Scratch()
        var sample = PMTilesSample()
        sample.header.internalCompression = PMTilesHeader.Compression.gzip
        // A directory without entries, and bytes after it that only cost memory.
        sample.root = Gzip.compress([UInt8](repeating: 0, count: PMTilesHeader.maxUnpacked))
        #expect(try code { _ = try scratch.open(sample.bytes) } == nil)
        sample.root = Gzip.compress([UInt8](repeating: 0, count: PMTilesHeader.maxUnpacked + 1))
        #expect(sample.root.count < 100_000)
        #expect(try code { _ = try scratch.open(sample.bytes) } == .badArchive)
    }

    @Test func noByteAndNoLengthMakesTheReaderTrap() throws {
        let scratch = try Scratch()
        let good = leaves { sample in
            let first = sample.addLeaf([
                Entry(tile: 0, run: 1, length: 2, offset: 0), Entry(tile: 1, run: 3, length: 2, offset: 2),
            ])
            return [first, sample.addLeaf([Entry(tile: 5, run: 1, length: 4, offset: 0)])]
        }
        let bytes = good.bytes
        let tiles = (0..<8).compactMap { TileID(hilbertID: $0) }
        func read(_ bytes: [UInt8]) throws {
            let file = try scratch.open(bytes)
            _ = try file.metadata()
            for tile in tiles { _ = try file.body(of: tile) }
            try file.walk { _ in }
        }
        #expect(try code { try read(bytes) } == nil)
        var refused = 0
        for index in bytes.indices {
            for value in [0, 0x7F, 0x80, 0xFF, bytes[index] ^ 1] as [UInt8] {
                var changed = bytes
                changed[index] = value
                if try code(of: { try read(changed) }) != nil { refused += 1 }
            }
        }
        #expect(refused > 100, "\(refused)")
        for length in bytes.indices {
            #expect(try code { try read(Array(bytes.prefix(length))) } != nil, "the first \(length) bytes")
        }
    }
}
