import Foundation
import GRDB
import PackageFiles
import Packages
import Testing

/// A merged package to be written in other forms.
struct Merged {
    let scratch: Scratch
    let world: World
    let url: URL
    let receipt: PackageReceipt

    init(padding: Int = 0) throws {
        scratch = try Scratch()
        world = try World(zooms: "0-8", padding: padding)
        url = scratch.file("demo.mbtiles")
        receipt = try MBTilesMerge.run(try world.spec, shards: try world.shards(2, in: scratch, seed: 1), into: url)
    }

    func export(_ format: PackageFormat, from source: URL? = nil, name: String = "out") throws -> (
        url: URL, receipt: ExportReceipt
    ) {
        let target = scratch.file(name + format.fileExtension)
        let receipt = try PackageExport.write(from: source ?? url, format: format, to: target)
        return (target, receipt)
    }

    /// Names in the folder that are not shards.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).filter { !$0.hasPrefix("shard-") }
            .sorted()
    }
}

extension PackageFormat {
    /// The files that are written from tiles alone, and hold vector tiles as the package does; ``TreeTests`` and
    /// ``GeoPackageTests`` are about the others.
    static let fromTiles = allCases.filter { ![.maplibre, .gpkg, .zip, .folder].contains($0) }
}

/// An MBTiles file as another maker might write it.
func foreignFile(_ url: URL, _ rows: [[String]], _ tiles: [(Int, Int, Int, [UInt8])], schema: String? = nil) throws {
    let queue = try DatabaseQueue(path: url.path)
    try queue.write { database in
        try database.execute(sql: "CREATE TABLE metadata (name, value)")
        try database.execute(
            sql: schema ?? "CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data BLOB)")
        for row in rows {
            try database.execute(sql: "INSERT INTO metadata VALUES (?, ?)", arguments: [row[0], row[1]])
        }
        for (zoom, column, row, body) in tiles {
            try database.execute(
                sql: "INSERT INTO tiles VALUES (?, ?, ?, ?)", arguments: [zoom, column, row, Data(body)])
        }
    }
    try queue.close()
}
