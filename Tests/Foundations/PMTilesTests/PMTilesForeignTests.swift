import Errors
import PMTiles
import Testing
import TileBodies
import Tiles

/// Archives as other programs write them.
struct PMTilesForeignTests {
    private typealias Entry = PMTilesDirectory.Entry
    private let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func little(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }

    private func replaced(_ bytes: [UInt8], at offset: Int, by value: UInt64) -> [UInt8] {
        Array(bytes[..<offset]) + little(value) + bytes[(offset + 8)...]
    }

    /// tilemaker up to 3.0 without leaf directories: its place is 0, and the length of the bodies is 0 minus their place.
    @Test func aLengthBelowZeroGoesToTheEndOfTheFile() throws {
        let sample = PMTilesSample([Entry(tile: 0, run: 1, length: 3, offset: 0)], bodies: [1, 2, 3])
        let start = sample.placed.tiles.offset
        var bytes = replaced(sample.bytes, at: 64, by: 0 &- start)
        bytes = replaced(replaced(bytes, at: 40, by: 0), at: 48, by: start + 3)
        let file = try scratch.open(bytes)
        #expect(file.header.hasUnknownLength && file.header.tiles == .init(offset: start, length: 3))
        #expect(try file.body(of: .root) == [1, 2, 3])
        // A file that was cut still says so.
        #expect(try code { _ = try scratch.open(Array(bytes.dropLast())).body(of: .root) } == .badArchive)
        #expect(try code { _ = try scratch.open(replaced(sample.bytes, at: 64, by: 1 << 62)) } == .badArchive)
    }

    @Test(arguments: [1, 2]) func anOldVersionIsNamedWithARemedy(version: UInt8) throws {
        let bytes = Array("PM".utf8) + [version, 0] + [UInt8](repeating: 0, count: 600)
        #expect(PMTilesHeader.version(bytes) == Int(version))
        let error = #expect(throws: ArchiveError.self) { try scratch.open(bytes) }
        #expect(error?.code == .unsupported)
        #expect(
            error?.message.contains("version \(version)") == true && error?.message.contains("pmtiles convert") == true)
        #expect(PMTilesHeader.version(Array("PM".utf8) + [3, 0] + [UInt8](repeating: 0, count: 600)) == nil)
        #expect(PMTilesHeader.version(Array("PMx".utf8)) == nil)
    }

    /// Some test files are of a draft of version 3: the digit in place of the number.
    @Test func aDraftOfVersionThreeIsNamedWithItsCommand() throws {
        let sample = PMTilesSample([Entry(tile: 0, run: 1, length: 3, offset: 0)], bodies: [1, 2, 3])
        var bytes = sample.bytes
        bytes[7] = UInt8(ascii: "3")
        let error = #expect(throws: ArchiveError.self) { try scratch.open(bytes) }
        #expect(error?.code == .unsupported)
        for words in ["a draft of PMTiles version 3", "printf '\\3' | dd of=", "seek=7"] {
            #expect(error?.message.contains(words) == true, "\(words)")
        }
        #expect(error?.message.contains("version 51") == false)
        #expect(PMTilesHeader.words(51) == "a draft of version 3" && PMTilesHeader.words(4) == "version 4")
        let remote = #expect(throws: ArchiveError.self) {
            try PMTilesHeader(bytes, fileSize: 1_000, path: "https://maps.example.com/a.pmtiles")
        }
        #expect(
            remote?.message.contains("Download it") == true && remote?.message.contains("of='COPY.pmtiles'") == true)
    }

    @Test func aByteOrderMarkIsNoPartOfTheMetadata() throws {
        var sample = PMTilesSample([Entry(tile: 0, run: 1, length: 3, offset: 0)], bodies: [1, 2, 3])
        sample.metadata = [0xEF, 0xBB, 0xBF] + Array("{}".utf8)
        #expect(try scratch.open(sample.bytes).metadata() == Array("{}".utf8))
    }

    @Test func zoomsAreThoseOfTheFirstAndTheLastEntry() throws {
        // Ids 1 to 4 are zoom 1, 5 to 20 are zoom 2, 21 to 84 zoom 3.
        var sample = PMTilesSample([Entry(tile: 2, run: 1, length: 1, offset: 0)], bodies: [1])
        #expect(try scratch.open(sample.bytes).tileZooms()?.description == "1")
        sample = PMTilesSample(
            [Entry(tile: 4, run: 1, length: 1, offset: 0), Entry(tile: 5, run: 17, length: 1, offset: 0)], bodies: [1])
        #expect(try scratch.open(sample.bytes).tileZooms()?.description == "1-3")
        let leaf = sample.addLeaf([
            Entry(tile: 30, run: 1, length: 1, offset: 0), Entry(tile: 90, run: 1, length: 1, offset: 0),
        ])
        sample.root = PMTilesDirectory(entries: [Entry(tile: 4, run: 1, length: 1, offset: 0), leaf]).encoded
        let file = try scratch.open(sample.bytes)
        #expect(try file.tileZooms()?.description == "1-4")
        #expect(try scratch.open(PMTilesSample([], bodies: [1]).bytes).tileZooms() == nil)
        #expect(PMTilesHeader.zoom(of: 0) == 0 && PMTilesHeader.zoom(of: 84) == 3 && PMTilesHeader.zoom(of: .max) == 31)
        // Of a root alone, as a client on the web has it: the first tile of the last leaf.
        var header = PMTilesHeader()
        (header.minZoom, header.maxZoom) = (2, 2)
        let root = PMTilesDirectory(entries: [Entry(tile: 4, run: 1, length: 1, offset: 0), leaf])
        #expect(header.zooms(with: root)?.description == "1-3")
    }
}
