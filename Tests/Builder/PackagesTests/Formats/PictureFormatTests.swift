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

/// The format that is written is that of the bodies, whatever the source or the caller says.
struct PictureFormatTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private let png = SamplePictures.pngPalette
    private let jpeg = SamplePictures.jpegProgressive

    private func file(_ format: String, _ bodies: [[UInt8]]) throws -> URL {
        let file = scratch.file("\(UUID().uuidString).mbtiles")
        let tiles = bodies.enumerated().map { (6, $0.offset / 64, $0.offset % 64, $0.element) }
        try foreignFile(file, [["format", format], ["name", "x"]], tiles)
        return file
    }

    private func convert(
        _ file: URL, _ rule: ImportRule = ImportRule(), to format: PackageFormat = .mbtiles
    ) throws -> VerifyReport {
        let target = scratch.file("\(UUID().uuidString)\(format.fileExtension)")
        _ = try PackageExport.write(from: file, format: format, to: target, rule: rule)
        return try PackageVerify.run(target)
    }

    @Test func anotherFormatThanThatOfTheBodiesIsRefused() throws {
        let pictures = try file("png", [png, png])
        let own = scratch.file("own.mbtiles")
        _ = try PackageExport.write(from: pictures, format: .mbtiles, to: own)
        let flat = scratch.file("flat.mbtiles")
        _ = try PackageExport.write(from: pictures, format: .mbtilesFlat, to: flat)
        for file in [pictures, own, flat] {
            for said in [TileFormat.jpeg, .webp, .mvt] {
                for format in [PackageFormat.mbtiles, .pmtiles] {
                    let error = #expect(throws: PackagesError.self) {
                        try convert(file, ImportRule(format: said), to: format)
                    }
                    #expect(
                        error?.message.contains("--input-format says \(said.rawValue)") == true
                            && error?.message.contains("are png") == true, "\(error as Any)")
                }
            }
            #expect(try convert(file, ImportRule(format: .png)).isVerified)
        }
    }

    /// The first body begins as a PNG and is none.
    @Test func aBrokenFirstBodyDoesNotDecide() throws {
        let report = try convert(try file("png", [Array(png.prefix(30)), jpeg, jpeg]))
        #expect(report.isVerified && report.format == "jpg" && report.tiles == 2, "\(report.problems)")
    }

    /// One PNG among many JPEG that come before it in the package.
    @Test func oneTileOfTheStatedFormatIsEnough() throws {
        for format in [PackageFormat.mbtiles, .mbtilesFlat, .pmtiles] {
            let report = try convert(
                try file("png", Array(repeating: jpeg, count: 100) + [png]), ImportRule(format: .png), to: format)
            #expect(report.isVerified && report.format == "png" && report.otherPictures == 100, "\(report.problems)")
        }
    }

    /// The header of a PMTiles file says another format than its bodies have.
    @Test func aHeaderThatIsWrongIsCorrected() throws {
        let tile = try #require(TileID(zoom: 6, x: 5, tmsY: 9))
        let root = PMTilesDirectory(entries: [
            .init(tile: tile.hilbertID, run: 2, length: UInt64(jpeg.count), offset: 0)
        ]).encoded
        var header = PMTilesHeader()
        header.internalCompression = PMTilesHeader.Compression.none
        header.tileCompression = PMTilesHeader.Compression.none
        header.format = .png
        (header.minZoom, header.maxZoom) = (6, 6)
        header.root = .init(offset: UInt64(PMTilesHeader.size), length: UInt64(root.count))
        header.metadata = .init(offset: header.root.end, length: 0)
        header.leaves = .init(offset: header.root.end, length: 0)
        header.tiles = .init(offset: header.root.end, length: UInt64(jpeg.count))
        let wrong = scratch.file("wrong.pmtiles")
        try Data(header.encoded + root + jpeg).write(to: wrong)
        let archive = try PMTilesArchive(path: wrong.path, .batch(wrong.path))
        #expect(archive.format == .jpeg)
        #expect(try archive.find(tile).body?.format == .jpeg)
        let report = try PackageVerify.run(wrong)
        #expect(report.isUsable && report.unusable == 0 && report.otherPictures == 0)
        #expect(report.problems.map(\.description) == ["header: it says png, the tiles are jpg [wrong-format]"])
        let written = try convert(wrong)
        #expect(written.isVerified && written.format == "jpg" && written.tiles == 2)
    }

    /// An area of an archive with PNG and JPEG can have one of them alone.
    @Test func aMergeSaysWhatItsBodiesAre() throws {
        let world = try World(zooms: "0-2")
        let shards = try world.shards(
            1, in: scratch, seed: 5, of: world.samples.map { Sample(tile: $0.tile, body: jpeg) })
        let metadata = PackageMetadata(
            name: "x", format: .png, bounds: try BoundingBox(west: -180, south: -85, east: 180, north: 85))
        let url = scratch.file("merged.mbtiles")
        _ = try MBTilesMerge.run(
            PackageSpec(id: "x", mask: world.mask, zooms: world.zooms, metadata: metadata), shards: shards, into: url)
        let report = try PackageVerify.run(url)
        #expect(report.isVerified && report.format == "jpg" && report.tiles > 0, "\(report.problems)")
    }
}
