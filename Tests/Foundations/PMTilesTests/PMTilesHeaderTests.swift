import Errors
import PMTiles
import Testing
import TileBodies
import Tiles

struct PMTilesHeaderTests {
    private let sample = PMTilesSample(
        [PMTilesDirectory.Entry(tile: 0, run: 1, length: 3, offset: 0)], bodies: [1, 2, 3])

    private func code(_ bytes: [UInt8], fileSize: UInt64? = nil) throws -> ArchiveErrorCode? {
        try PMTilesTests.code { _ = try PMTilesHeader(bytes, fileSize: fileSize ?? UInt64(bytes.count), path: "x") }
    }

    @Test func aShortHeaderIsRefused() throws {
        let bytes = sample.bytes
        for length in 0..<PMTilesHeader.size {
            #expect(try code(Array(bytes.prefix(length))) == .badArchive, "\(length) bytes")
        }
        #expect(try code(bytes) == nil)
    }

    @Test func anotherSignatureIsRefused() throws {
        for index in 0..<7 {
            var bytes = sample.bytes
            bytes[index] ^= 0x20
            #expect(try code(bytes) == .badArchive, "byte \(index)")
        }
    }

    @Test func onlyVersion3IsRead() throws {
        for version in UInt8.min...UInt8.max {
            var bytes = sample.bytes
            bytes[7] = version
            #expect(try code(bytes) == (version == 3 ? nil : .unsupported), "version \(version)")
        }
    }

    @Test(arguments: [8, 24, 40, 56])
    func aSectionEndsWithinTheFile(field: Int) throws {
        func header(_ offset: UInt64, _ length: UInt64) -> [UInt8] {
            var bytes = sample.bytes
            for index in 0..<8 {
                bytes[field + index] = UInt8(truncatingIfNeeded: offset >> (8 * UInt64(index)))
                bytes[field + 8 + index] = UInt8(truncatingIfNeeded: length >> (8 * UInt64(index)))
            }
            return bytes
        }
        #expect(try code(header(150, 50), fileSize: 200) == nil, "it may end with the file")
        #expect(try code(header(200, 0), fileSize: 200) == nil, "it may be empty at the end")
        #expect(try code(header(150, 51), fileSize: 200) == .badArchive)
        #expect(try code(header(201, 0), fileSize: 200) == .badArchive)
        #expect(try code(header(.max, 0), fileSize: 200) == .badArchive)
        #expect(try code(header(0, .max), fileSize: 200) == .badArchive)
        #expect(try code(header(.max, .max), fileSize: .max) == .badArchive)
        #expect(try code(header(.max, 2), fileSize: .max) == .badArchive, "the sum is 1 in 64 bits")
        #expect(try code(header(1 << 63, 1 << 63), fileSize: .max) == .badArchive, "the sum is 0 in 64 bits")
    }

    @Test func zoomsAreLimitedAndNeverReversed() {
        func zooms(_ min: UInt8, _ max: UInt8) -> ZoomRange? {
            var header = PMTilesHeader()
            (header.minZoom, header.maxZoom) = (min, max)
            return header.zooms
        }
        #expect(zooms(0, 0) == ZoomRange(min: 0, max: 0) && zooms(0, 0) != nil)
        #expect(zooms(3, 14) == ZoomRange(min: 3, max: 14) && zooms(3, 14) != nil)
        #expect(zooms(5, 4) == nil)
        #expect(zooms(0, 255)?.max == TileID.maxZoom, "deeper zooms than this build has are cut off")
        #expect(zooms(UInt8(TileID.maxZoom) + 1, 255) == nil)
    }

    @Test func everyTypeAndCompressionHasItsMeaning() {
        let types: [UInt8: TileFormat] = [1: .mvt, 2: .png, 3: .jpeg, 4: .webp, 5: .avif, 6: .mlt]
        let codings: [UInt8: BodyCoding] = [0: .identity, 1: .identity, 2: .gzip, 3: .brotli, 4: .zstd]
        for value in UInt8.min...UInt8.max {
            var header = PMTilesHeader()
            (header.tileType, header.tileCompression) = (value, value)
            #expect(header.format == types[value], "type \(value)")
            #expect(header.coding == codings[value], "compression \(value)")
        }
        for (value, format) in types {
            var header = PMTilesHeader()
            header.format = format
            #expect(header.tileType == value)
        }
    }

    @Test func onlyOneMeansClustered() throws {
        for value in [0, 1, 2, 255] as [UInt8] {
            var bytes = sample.bytes
            bytes[96] = value
            let header = try PMTilesHeader(bytes, fileSize: UInt64(bytes.count), path: "x")
            #expect(header.isClustered == (value == 1))
        }
    }

    @Test func boundsAreDegreesOfAnySign() throws {
        var header = sample.placed
        header.edges = [.min, -850_511_288, .max, 1]
        let read = try PMTilesHeader(header.encoded, fileSize: 1_000, path: "x")
        #expect(read.bounds == [-214.7483648, -85.0511288, 214.7483647, 1e-7])
    }

    @Test func unknownInternalCompressionIsUnsupported() throws {
        for value in [0, 5, 255] as [UInt8] {
            var header = PMTilesHeader()
            header.internalCompression = value
            #expect(try PMTilesTests.code { _ = try header.directory([0], at: 127, of: "x") } == .unsupported)
        }
    }

    @Test func aPlaceLiesInItsSection() throws {
        var header = PMTilesHeader()
        header.tiles = .init(offset: 1_000, length: 50)
        header.leaves = .init(offset: 2_000, length: 10)
        func place(_ run: UInt64, _ offset: UInt64, _ length: UInt64) -> Range<UInt64>? {
            try? header.place(of: .init(tile: 0, run: run, length: length, offset: offset), in: "x")
        }
        #expect(place(1, 0, 50) == 1_000..<1_050)
        #expect(place(1, 49, 1) == 1_049..<1_050)
        #expect(place(0, 3, 7) == 2_003..<2_010, "a pointer counts from the leaves")
        #expect(place(1, 49, 2) == nil && place(1, 50, 1) == nil)
        #expect(place(0, 10, 1) == nil)
        #expect(place(1, .max, 1) == nil && place(1, 1, .max) == nil && place(1, .max, .max) == nil)
    }
}
