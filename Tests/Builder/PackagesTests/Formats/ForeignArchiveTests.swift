import Errors
import Foundation
import GRDB
import PMTiles
import PackageFiles
import Packages
import TestSupport
import Testing
import TileBodies
import Tiles

/// PMTiles archives of other programs, by every reader the same (docs/decisions/0077).
struct ForeignArchiveTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    /// A file with the tile 1/0/0, without packing of directories and metadata.
    private func archive(
        metadata: String, tiles: Int = 1, _ edit: (inout PMTilesHeader) -> Void = { _ in }
    ) throws -> URL {
        let body = vectorTile("one")
        let entries = [PMTilesDirectory.Entry(tile: 1, run: 1, length: UInt64(body.count), offset: 0)]
        let root = PMTilesDirectory(entries: Array(entries.prefix(tiles))).encoded
        var header = PMTilesHeader()
        header.internalCompression = PMTilesHeader.Compression.none
        header.tileCompression = PMTilesHeader.Compression.gzip
        header.format = .mvt
        (header.minZoom, header.maxZoom) = (1, 1)
        header.root = .init(offset: UInt64(PMTilesHeader.size), length: UInt64(root.count))
        header.metadata = .init(offset: header.root.end, length: UInt64(metadata.utf8.count))
        header.leaves = .init(offset: header.metadata.end, length: 0)
        header.tiles = .init(offset: header.leaves.end, length: UInt64(body.count))
        edit(&header)
        let file = scratch.file("\(UUID().uuidString).pmtiles")
        try Data(header.encoded + root + Array(metadata.utf8) + body).write(to: file)
        return file
    }

    private func convert(_ file: URL) throws -> ExportReceipt {
        try PackageExport.write(from: file, format: .mbtiles, to: scratch.file("\(UUID().uuidString).mbtiles"))
    }

    @Test(arguments: ["null", "[]", "no JSON", "", "{\"name\":", "7"])
    func metadataThatAreNoObjectDoNotRefuseTheArchive(text: String) throws {
        let file = try archive(metadata: text)
        #expect(try convert(file).tiles == 1)
        let report = try PackageVerify.run(file)
        #expect(
            report.isUsable && report.seal == .none && report.tiles == 1 && report.unusable == 0, "\(report.problems)")
        #expect(report.problems.contains { $0.place == "metadata" && $0.code == "bad-metadata" } == !text.isEmpty)
        let found = try PMTilesArchive(path: file.path, ArchiveAccess()).find(try #require(TileID(zoom: 1, x: 0, y: 0)))
        #expect(found.body?.bytes == vectorTile("one"))
    }

    @Test func anArchiveOfTilemakerIsRead() throws {
        let file = try archive(metadata: "{}")
        var bytes = try bytes(file)
        let start = try PMTilesHeader(bytes, fileSize: UInt64(bytes.count), path: "x").tiles.offset
        for (offset, value) in [(40, 0), (48, UInt64(bytes.count)), (64, 0 &- start)] {
            for index in 0..<8 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt64(index))) }
        }
        try Data(bytes).write(to: file)
        #expect(try convert(file).tiles == 1)
        let report = try PackageVerify.run(file)
        #expect(report.isUsable && report.problems.contains { $0.message.contains("tilemaker") }, "\(report.problems)")
    }

    @Test func anArchiveWithoutATileIsNoPackage() throws {
        let empty = try archive(metadata: "{}", tiles: 0)
        let error = #expect(throws: PackagesError.self) { try convert(empty) }
        #expect(error?.code == .badSource && error?.message.contains("no tile") == true)
        #expect(try !PackageVerify.run(empty).isUsable)
        let mbtiles = scratch.file("empty.mbtiles")
        try foreignFile(mbtiles, [["format", "pbf"]], [])
        #expect(throws: PackagesError.self) { try convert(mbtiles) }
        #expect(try !PackageVerify.run(mbtiles).isUsable)
    }

    /// Tile type 0 is "unknown": the bodies say what they are.
    @Test func anUnknownTypeIsFoundByTheBodies() throws {
        let file = try archive(metadata: "{}") { $0.tileType = 0 }
        #expect(try PMTilesArchive(path: file.path, ArchiveAccess()).format == .mvt)
        #expect(try convert(file).tiles == 1)
        let report = try PackageVerify.run(file)
        #expect(report.isUsable && report.format == "pbf" && report.problems.contains { $0.code == "unknown-format" })
    }

    @Test func theVersionIsThatOfTheFile() throws {
        let old = scratch.file("old.pmtiles")
        try Data(Array("PM".utf8) + [2, 0] + [UInt8](repeating: 0, count: 600)).write(to: old)
        #expect(try ArchiveKind.of(old) == .pmtiles)
        let report = try PackageVerify.run(old)
        #expect(report.dialect == "version 2" && report.damage?.code == "unsupported", "\(report)")
        let error = #expect(throws: PackagesError.self) { try convert(old) }
        #expect(error?.code == .unsupported && error?.message.contains("pmtiles convert") == true)
        #expect(try PackageVerify.run(try archive(metadata: "{}")).dialect == "version 3")
    }

    /// A package over longitude 180, in the form of this build and of the one before.
    @Test func boundsOfAPackageOverTheAntimeridian() throws {
        let world = try World(zooms: "0-7")
        for (version, bounds) in [(2, "-180,-19,180,-16"), (1, "177,-19,-178,-16")] {
            let metadata = PackageMetadata(
                name: "FJ", format: .mvt, bounds: try BoundingBox(west: 177, south: -19, east: -178, north: -16))
            let spec = PackageSpec(
                id: "FJ", mask: world.mask, zooms: world.zooms, metadata: metadata, formatVersion: version)
            let url = scratch.file("FJ-\(version).mbtiles")
            _ = try MBTilesMerge.run(spec, shards: try world.shards(1, in: scratch, seed: UInt64(version)), into: url)
            let rows = try MBTilesContents.read(url).metadata
            #expect(rows["bounds"] == bounds && rows["center"]?.hasPrefix("179.5,-17.5,") == true, "\(rows)")
            let pmtiles = scratch.file("FJ-\(version).pmtiles")
            _ = try PackageExport.write(from: url, format: .pmtiles, to: pmtiles)
            #expect(try PMTilesFile(path: pmtiles.path).header.bounds == [-180, -19, 180, -16])
            #expect(try PackageVerify.run(pmtiles).isVerified)
        }
        #expect(PackageSpec.formatVersions == [1, 2] && PackageSpec.formatVersion == 2)
    }
}
