import ArgumentParser
import CatalogFormat
import Digests
import Files
import Foundation
import Tiles

/// `bench-device catalog`: writes a catalog for measurements into a folder, which a web server then serves.
///
/// It lists many packages with names in eight languages. The files of the first ones exist, and the package `BIG`.
struct CatalogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "catalog", abstract: "Write a catalog of test packages into a folder.")

    @Option(help: "The folder.") var folder: String
    @Option(help: "Number of packages that are listed.") var packages = 600
    @Option(help: "Number of packages whose files exist.") var files = 20
    @Option(help: "Megabytes of the package BIG.") var megabytes = 1_024

    func validate() throws {
        guard (1...1_800).contains(packages) else { throw ValidationError("--packages must be between 1 and 1800.") }
        guard (0...packages).contains(files) else { throw ValidationError("--files must be at most --packages.") }
        guard (1...100_000).contains(megabytes) else { throw ValidationError("--megabytes must be at least 1.") }
    }

    func run() throws {
        let root = URL(filePath: folder, directoryHint: .isDirectory)
        let maps = BenchMaps(folder: root, count: packages)
        try FileManager.default.createDirectory(
            at: root.appending(path: "packages/1"), withIntermediateDirectories: true)
        var index = CatalogIndex()
        index.sequence = 1
        index.tree = [CatalogIndex.Node(id: "001", parent: nil, kind: "world", names: ["en": "World"])]
        let none = String(repeating: "ab", count: 32)
        index.editions = [
            CatalogIndex.Edition(
                path: "", list: CatalogIndex.List(url: "packages.json", size: 1, sha256: none), packages: packages + 1,
                sizes: [:])
        ]
        for number in 0..<packages {
            let id = "P\(number)"
            let names = Self.names(id)
            index.tree.append(CatalogIndex.Node(id: id, parent: "001", kind: "country", names: names))
            var file = CatalogIndex.File(
                format: "mbtiles", url: "packages/1/\(id).mbtiles", size: 1_350_000, sha256: none)
            if number < files {
                try maps.write(number, text: id, to: root.appending(path: file.url))
                try Self.measure(&file, root)
            }
            let mask = TileMask(tiles: try maps.tiles(number), maxZoom: BenchMaps.lastZoom)
            index.packages.append(Self.package(id, names: names, file: file, mask: mask))
        }
        var big = CatalogIndex.File(format: "mbtiles", url: "packages/1/BIG.mbtiles", size: 0, sha256: none)
        try maps.write(packages, bytes: megabytes << 20, to: root.appending(path: big.url))
        try Self.measure(&big, root)
        let mask = TileMask(tiles: [try maps.cell(packages)], maxZoom: 7).expanded(toZoom: BenchMaps.lastZoom)
        index.packages.append(Self.package("BIG", names: Self.names("BIG"), file: big, mask: mask))
        try Data(try index.encoded()).write(to: root.appending(path: CatalogIndex.fileName))
    }

    private static func package(
        _ id: String, names: [String: String], file: CatalogIndex.File, mask: TileMask
    ) -> CatalogIndex.Package {
        let version = CatalogIndex.Version(
            version: 1, tileMask: mask.cartoWire, tilesHash: "x", tileset: "bench", minZoom: 0,
            maxZoom: BenchMaps.lastZoom,
            attribution: "none", dataDate: "2026-11-01", files: [file], patches: [])
        return CatalogIndex.Package(
            id: id, edition: "", region: id == "BIG" ? nil : id, names: names, versions: [version])
    }

    private static func names(_ id: String) -> [String: String] {
        let languages = ["ar", "de", "en", "es", "fr", "it", "ru", "zh"]
        return Dictionary(uniqueKeysWithValues: languages.map { ($0, "World/Country \(id) \($0)") })
    }

    private static func measure(_ file: inout CatalogIndex.File, _ root: URL) throws {
        let (digest, size) = try Digest.ofFile(root.appending(path: file.url))
        (file.sha256, file.size) = (digest.hex, Int64(size))
    }
}
