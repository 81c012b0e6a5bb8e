import Errors
import PMTiles
import Testing
import TileBodies
import Tiles

struct PMTilesCodecTests {
    private func header() -> PMTilesHeader {
        var header = PMTilesHeader()
        header.root = .init(offset: 127, length: 40)
        header.metadata = .init(offset: 167, length: 30)
        header.tiles = .init(offset: 16_384, length: 1 << 33)
        header.leaves = .init(offset: 16_384 + 1 << 33, length: 9)
        (header.addressedTiles, header.tileEntries, header.tileContents) = (1 << 40, 300, 0x0102_0304_0506_0708)
        header.isClustered = true
        (header.internalCompression, header.tileCompression) = (2, 1)
        header.format = .webp
        (header.minZoom, header.maxZoom, header.centerZoom) = (3, 14, 7)
        header.edges = [-1_800_000_000, -850_511_288, 1_800_000_000, 1]
        header.center = [-1, 2]
        return header
    }

    @Test func aHeaderComesBackAsItWas() throws {
        let header = header()
        let bytes = header.encoded
        #expect(bytes.count == PMTilesHeader.size)
        #expect(try PMTilesHeader(bytes, fileSize: .max, path: "x") == header)
        // Offsets of the specification, counted by hand.
        #expect(bytes[96...101] == [1, 2, 1, 4, 3, 14] && bytes[88] == 8 && bytes[118] == 7)
        #expect(bytes[119...126] == [255, 255, 255, 255, 2, 0, 0, 0])
    }

    @Test func aSectionBeyondTheFileIsRefused() throws {
        let error = #expect(throws: ArchiveError.self) {
            try PMTilesHeader(self.header().encoded, fileSize: 1 << 33, path: "x")
        }
        #expect(error?.code == .badArchive)
    }

    /// The bytes were written down from the specification: two bodies, the second directly after the first, then the first again.
    @Test func aDirectoryHasTheBytesOfTheSpecification() throws {
        let directory = PMTilesDirectory(entries: [
            .init(tile: 0, run: 1, length: 300, offset: 0), .init(tile: 5, run: 2, length: 10, offset: 300),
            .init(tile: 200, run: 1, length: 300, offset: 0),
        ])
        let expected: [UInt8] = [3, 0, 5, 0xC3, 1, 1, 2, 1, 0xAC, 2, 10, 0xAC, 2, 1, 0, 1]
        #expect(directory.encoded == expected)
        #expect(PMTilesDirectory(expected) == directory)
    }

    @Test func directoriesOfAllSizesComeBack() {
        var state: UInt64 = 7
        func random() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
        for count in [0, 1, 2, 127, 128, 5_000] {
            var tile: UInt64 = 0
            var offset: UInt64 = 0
            let entries = (0..<count).map { _ in
                tile += 1 + random() % 1_000_000
                let length = 1 + random() % 70_000
                defer { offset = random() % 3 == 0 ? random() : offset + length }
                return PMTilesDirectory.Entry(tile: tile, run: random() % 3, length: length, offset: offset)
            }
            let directory = PMTilesDirectory(entries: entries)
            #expect(PMTilesDirectory(directory.encoded) == directory)
            for cut in 0..<min(40, directory.encoded.count - 1) {
                #expect(PMTilesDirectory(Array(directory.encoded.prefix(cut))) == nil)
            }
        }
    }
}
