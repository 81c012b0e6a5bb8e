import CatalogFormat
import Files
import Foundation
import Tiles

@testable import OfflineMaps

/// A catalog as a publisher writes it: Estonia in three editions, Latvia, a box, a style.
enum CatalogSample {
    static let digest = String(repeating: "ab", count: 32)

    static func index(sequence: Int64? = 7) -> CatalogIndex {
        var index = CatalogIndex()
        index.sequence = sequence
        index.tree = [
            node("001", nil, "world", ["en": "World", "de": "Welt"]),
            node("150", "001", "continent", ["en": "Europe", "de": "Europa"]),
            node("EE", "150", "country", ["en": "Estonia", "de": "Estland"]),
            node("LV", "150", "country", ["en": "Latvia", "de": "Lettland"]),
        ]
        index.editions = [edition(nil, nil), edition("de", nil), edition(nil, "terrain")]
        index.packages = [
            package("EE", "", cells: [(7, 72, 37), (7, 73, 37)], size: 500),
            package("LV", "", cells: [(7, 72, 38), (7, 73, 38), (7, 72, 37)], size: 900),
            package("tallinn", "", cells: [(9, 289, 149)], size: 10, region: nil, name: "Tallinn"),
            package("EE", "de/", cells: [(7, 72, 37), (7, 73, 37)], size: 510),
            package("EE", "groups/terrain/", cells: [(7, 72, 37)], size: 2_000),
        ]
        index.styles = [
            CatalogIndex.Style(
                id: "streets", name: "Streets", version: 3, url: "styles/3/streets.zip", size: 77, sha256: digest)
        ]
        return index
    }

    static func node(_ id: String, _ parent: String?, _ kind: String, _ names: [String: String]) -> CatalogIndex.Node {
        CatalogIndex.Node(id: id, parent: parent, kind: kind, names: names)
    }

    private static func edition(_ language: String?, _ group: String?) -> CatalogIndex.Edition {
        let path = (group.map { "groups/\($0)/" } ?? "") + (language.map { "\($0)/" } ?? "")
        let list = CatalogIndex.List(url: path + "packages.json", size: 1, sha256: digest)
        return CatalogIndex.Edition(path: path, group: group, language: language, list: list, packages: 1, sizes: [:])
    }

    static func package(
        _ id: String, _ path: String, cells: [(Int, Int, Int)], size: Int64, region: String? = "", name: String? = nil
    ) -> CatalogIndex.Package {
        let tiles = cells.compactMap { TileID(zoom: $0.0, x: $0.1, y: $0.2) }
        let mask = TileMask(tiles: tiles, maxZoom: cells.map(\.0).max() ?? 0).expanded(toZoom: 12)
        let names: [String: String] =
            switch id {
            case "EE":
                [
                    "en": "Europe/Estonia", "de": "Europa/Estland", "fr": "Europe/Estonie", "ru": "Европа/Эстония",
                    "es": "Europa/Estonia", "it": "Europa/Estonia", "zh": "欧洲/爱沙尼亚", "ar": "أوروبا/إستونيا",
                ]
            case "LV": ["en": "Europe/Latvia", "de": "Europa/Lettland", "fr": "Europe/Lettonie, près d’Estonie"]
            default: ["en": name ?? id]
            }
        let file = CatalogIndex.File(
            format: "mbtiles", url: path + "packages/2/\(id).mbtiles", size: size, sha256: digest)
        let patch = CatalogIndex.Patch(from: 1, url: path + "patches/\(id)/1-2.mbtiles", size: 5, sha256: digest)
        let version = CatalogIndex.Version(
            version: 2, tileMask: mask.cartoWire, tilesHash: digest, tileset: "demo", minZoom: 0, maxZoom: 12,
            attribution: "© Test", dataDate: "2026-11-01", files: [file], patches: [patch])
        return CatalogIndex.Package(
            id: id, edition: path, region: region == "" ? id : region, names: names, versions: [version])
    }
}
