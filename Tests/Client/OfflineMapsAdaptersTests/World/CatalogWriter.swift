import CatalogFormat
import Digests
import Files
import Foundation
import PackageFiles
import Packages
import StyleFormat
import Tiles

/// Writes a catalog as a publisher does: Estonia, Latvia and a town, in two editions of the data.
///
/// In the second edition the east of Estonia has other data. Estonia also exists in German, with terrain, and with
/// routing data. Estonia and Latvia have tile packs and share those of one cell.
struct CatalogWriter {
    let root: URL
    let key = CatalogSecretKey()

    /// The cell that Estonia and Latvia share.
    static let shared = TinyMap.tile(6, 36, 18)
    static let east = TinyMap.tile(6, 37, 18)
    static let south = TinyMap.tile(6, 36, 19)
    /// A place in the shared cell.
    static let place = Coordinate(longitude: 25.3, latitude: 59.0)
    static let town = TinyMap.tile(7, 73, 37)

    /// Writes everything; the documents of edition N are `N/catalog.json` and `N/catalog.json.sig`.
    func write() throws {
        for edition in 1...2 {
            var index = CatalogIndex()
            index.sequence = Int64(edition)
            index.tree = Self.tree
            index.editions = Self.editions
            index.packages = try packages(edition)
            index.styles = [try style(edition)]
            let bytes = try index.encoded()
            try put(bytes, "\(edition)/catalog.json")
            let signature = try CatalogSignature(signing: bytes, Digest(of: bytes), with: key, earlier: nil)
            try put([UInt8](try JSONEncoder().encode(signature)), "\(edition)/catalog.json.sig")
        }
    }

    private static let tree = [
        node("001", nil, "world", ["en": "World", "de": "Welt"]),
        node("150", "001", "continent", ["en": "Europe", "de": "Europa"]),
        node("154", "150", "subcontinent", ["en": "Northern Europe", "de": "Nordeuropa"]),
        node("EE", "154", "country", ["en": "Estonia", "de": "Estland"]),
        node("LV", "154", "country", ["en": "Latvia", "de": "Lettland"]),
        node("EE-37", "EE", "region", ["en": "Harju"]),
    ]

    private static func node(
        _ id: String, _ parent: String?, _ kind: String, _ names: [String: String]
    ) -> CatalogIndex.Node { CatalogIndex.Node(id: id, parent: parent, kind: kind, names: names) }

    private static let editions = [edition(nil, nil), edition("de", nil), edition(nil, "terrain")]

    private static func edition(_ language: String?, _ group: String?) -> CatalogIndex.Edition {
        let path = (group.map { "groups/\($0)/" } ?? "") + (language.map { "\($0)/" } ?? "")
        let list = CatalogIndex.List(
            url: path + "packages.json", size: 1, sha256: String(repeating: "ab", count: 32))
        return CatalogIndex.Edition(path: path, group: group, language: language, list: list, packages: 1, sizes: [:])
    }

    private func packages(_ edition: Int) throws -> [CatalogIndex.Package] {
        var estonia = TinyMap([Self.shared, Self.east])
        if edition == 2 { estonia.data[Self.east] = 2 }
        let latvia = TinyMap([Self.shared, Self.south])
        let patch = edition == 2 ? try patch(to: estonia) : nil
        var main = try package("EE", "", estonia, version: Int32(edition), region: "EE", packs: true)
        let routing = Array("routes \(edition)".utf8)
        main.versions[0].files.append(try file("opaque", "packages/\(edition)/EE.routes", routing))
        if let patch { main.versions[0].patches = [patch] }
        var town = TinyMap([Self.shared])
        town.data[Self.shared] = 3
        let harju = TinyMap([Self.shared])
        var german = TinyMap([Self.shared])
        german.data[Self.shared] = 4
        return [
            main, try package("EE-37", "", harju, version: 1, region: "EE-37"),
            try package("LV", "", latvia, version: 1, region: "LV", packs: true),
            try package("EE", "de/", german, version: 1, region: "EE"),
            try package("EE", "groups/terrain/", town, version: 1, region: "EE", tileset: "terrain"),
        ]
    }

    /// Writes the second version of Estonia, in the layout that a device makes with the patch, and the patch.
    private func patch(to map: TinyMap) throws -> CatalogIndex.Patch {
        let url = "patches/EE/1-2.mbtiles"
        let (target, old) = (root.appending(path: url), root.appending(path: "packages/1/EE.mbtiles"))
        let new = root.appending(path: "packages/2/EE.mbtiles")
        for file in [target, new] {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        }
        try map.write(to: new, name: "EE")
        try Patch.make(old: old, new: new, into: target)
        try Patch.apply(target, to: old, into: new, replacing: true)
        let (size, digest) = try measure(url)
        return CatalogIndex.Patch(from: 1, url: url, size: size, sha256: digest)
    }

    private func package(
        _ id: String, _ path: String, _ map: TinyMap, version: Int32, region: String, packs: Bool = false,
        tileset: String = "demo"
    ) throws -> CatalogIndex.Package {
        let names = ["EE": "Estonia", "LV": "Latvia", "EE-37": "Estonia/Harju"]
        let german = ["EE": "Estland", "LV": "Lettland"]
        let address = path + "packages/\(version)/\(id).mbtiles"
        let target = root.appending(path: address)
        if !FileManager.default.fileExists(atPath: target.path) {
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try map.write(to: target, name: id)
        }
        let (size, digest) = try measure(address)
        let file = CatalogIndex.File(format: "mbtiles", url: address, size: size, sha256: digest)
        let entry = CatalogIndex.Version(
            version: version, tileMask: map.mask.cartoWire, tilesHash: digest, tileset: tileset,
            minZoom: map.zooms.min, maxZoom: map.zooms.max, attribution: "© Test", dataDate: "2026-1\(version)-01",
            files: [file], patches: [])
        var package = CatalogIndex.Package(
            id: id, edition: path, region: region,
            names: [
                "en": "Europe/Northern Europe/\(names[id] ?? id)", "de": "Europa/Nordeuropa/\(german[id] ?? id)",
            ], versions: [entry])
        if packs { package.tilePacks = try cut(target, id, map, version) }
        return package
    }

    /// Cuts a package into packs of the bands 0-5 and 6-10.
    private func cut(_ file: URL, _ id: String, _ map: TinyMap, _ version: Int32) throws -> CatalogIndex.List {
        var order = TilePacks.Order(package: file, id: id, tileset: "demo")
        order.mask = map.mask
        order.lacksOnlyEmptyTiles = true
        order.scheme = .mapbox
        let bytes = try TilePacks.packs(order, into: root).encoded()
        // Both editions have the list under one name; each names it by its own digest.
        let url = "regions/\(id).json"
        try put(bytes, "\(version)-\(id).regions")
        try put(bytes, url)
        return CatalogIndex.List(url: url, size: Int64(bytes.count), sha256: Digest(of: bytes).hex)
    }

    private func style(_ edition: Int) throws -> CatalogIndex.Style {
        let pack = root.appending(path: "style-\(edition)", directoryHint: .isDirectory)
        let entries = try Self.resources.enumerated().map { number, resource in
            let bytes = Array(resource.text.replacing("EDITION", with: "\(edition)").utf8)
            try put(bytes, "style-\(edition)/file-\(number)")
            return StylePackIndex.Entry(
                url: resource.url, kind: resource.kind, path: "file-\(number)", size: UInt64(bytes.count),
                sha256: Digest(of: bytes).hex, etag: "\"\(number)\"", modified: nil)
        }
        let index = StylePackIndex(
            name: "Streets", style: Self.resources[0].url, choice: StyleChoice(ideographs: false),
            rewritten: Digest(of: Array("".utf8)), entries: entries)
        try put(try index.encoded(), "style-\(edition)/style-pack.json")
        let url = "styles/\(edition)/streets.zip"
        try put([], url)
        try FileManager.default.removeItem(at: root.appending(path: url))
        try StoredZip.write(
            entries.compactMap(\.path) + ["style-pack.json"], of: pack, to: root.appending(path: url))
        let (size, digest) = try measure(url)
        return CatalogIndex.Style(
            id: "streets", name: "Streets", version: Int32(edition), url: url, size: size, sha256: digest)
    }

    /// What the style pack holds.
    static let resources: [(url: String, kind: StyleResource.Kind, text: String)] = [
        (
            "https://maps.example.com/style.json", .style,
            #"{"version":8,"name":"EDITION","sources":{"demo":{"type":"vector","url":"https://maps.example.com/tiles.json"}},"layers":[]}"#
        ),
        ("https://maps.example.com/tiles.json", .source, #"{"tiles":["https://t.example.com/{z}/{x}/{y}.pbf"]}"#),
        ("https://maps.example.com/fonts/Open%20Sans/0-255.pbf", .glyphs, "glyphs"),
        ("https://maps.example.com/sprite.json", .spriteJSON, "{}"),
        ("https://maps.example.com/sprite.png", .spriteImage, "png"),
    ]

    private func file(_ format: String, _ url: String, _ bytes: [UInt8]) throws -> CatalogIndex.File {
        try put(bytes, url)
        return CatalogIndex.File(format: format, url: url, size: Int64(bytes.count), sha256: Digest(of: bytes).hex)
    }

    private func measure(_ path: String) throws -> (size: Int64, sha256: String) {
        let bytes = [UInt8](try Data(contentsOf: root.appending(path: path)))
        return (Int64(bytes.count), Digest(of: bytes).hex)
    }

    private func put(_ bytes: [UInt8], _ path: String) throws {
        let url = root.appending(path: path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
    }
}
