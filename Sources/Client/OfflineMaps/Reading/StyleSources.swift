internal import Foundation
internal import PackageFiles
internal import StyleFormat
internal import TextFormats
internal import Tiles

/// The sources with tiles of a style, and which installed tilesets they are.
struct StyleSources {
    /// The first tile address of each source, absolute where the style says against what.
    private let documents: [String: [String: JSONValue]]
    private let tilesets: [String: String]
    /// The name of the only source that a map can be of.
    private let only: String?
    private let maps: [InstalledFile]
    private let readings: [String: TileSourceMembers]

    /// Finds the tilesets: by the tile address, by the name of the source, and last, for the only source of a style, the
    /// only tileset.
    ///
    /// - Parameter reading: How renderers read the tiles of a tileset; `nil` when no file says it.
    init(
        _ style: StyleDocument, _ pack: StylePack, maps: [InstalledFile],
        reading: (_ tileset: String) -> TileSourceMembers?
    ) {
        self.maps = maps
        let sources = style.sources.filter(\.hasTiles)
        var documents: [String: [String: JSONValue]] = [:]
        var found: [String: String] = [:]
        let names = Set(maps.map(Self.tileset))
        // Hillshades and satellite images have packages of their own; the map itself is the vector source.
        let vectors = sources.filter { $0.type == "vector" }
        let only = sources.count == 1 ? sources.first : vectors.count == 1 ? vectors.first : nil
        for source in sources {
            // A source with a wrong address has no document.
            let address = source.url.flatMap { try? URLReference.resolve($0, against: pack.index.style) }
            let template: String?
            if let address, let document = Self.document(address, pack) {
                documents[source.name] = document
                // Tiles with a wrong address are not served.
                template = Self.firstTile(document).flatMap { try? URLReference.resolve($0, against: address) }
            } else {
                // A reference that cannot be resolved names no server.
                template = source.tiles.first.flatMap { try? URLReference.resolve($0, against: pack.index.style) }
            }
            // Units have templates that say themselves from where rows are counted.
            let other = template?.replacing("{y}", with: "{-y}")
            if let template, let unit = maps.first(where: { $0.template == template || $0.template == other }) {
                found[source.name] = Self.tileset(unit)
            } else if names.contains(source.name) {
                found[source.name] = source.name
            } else if names.count == 1, only?.name == source.name {
                found[source.name] = names.first
            }
        }
        self.documents = documents
        self.only = only?.name
        tilesets = found
        readings = Dictionary(
            Set(found.values).compactMap { name in reading(name).map { (name, $0) } }, uniquingKeysWith: { $1 })
    }

    private static func tileset(_ unit: InstalledFile) -> String { unit.tileset ?? unit.item.identifier }

    /// The TileJSON document of a pack; `nil` for one that is not there or damaged: the source then keeps its address.
    private static func document(_ address: String, _ pack: StylePack) -> [String: JSONValue]? {
        // A document that cannot be read counts as missing.
        guard let entry = pack.entry(address), let bytes = try? pack.bytes(of: entry),
            case .object(let root)? = JSONValue(json: bytes)
        else { return nil }
        return root
    }

    private static func firstTile(_ document: [String: JSONValue]) -> String? {
        guard case .array(let list)? = document["tiles"], case .string(let text)? = list.first else { return nil }
        return text
    }

    // MARK: - Forms

    /// Addresses below that of a server.
    func served(_ base: URL) -> StyleRewriting {
        let text = base.absoluteString
        let root = String(text.hasSuffix("/") ? text.dropLast() : text[...])
        let full = { (address: String) in ServedAddress.address(address, below: root) }
        return StyleRewriting(
            reference: full, sprite: { full($1) }, glyphs: full,
            tiles: { name, members in
                guard let tileset = tilesets[name] else { return online(name, members, full: full) }
                let template = ServedAddress.template(tileset, below: root)
                return self.members(name, members, tileset: tileset) {
                    $0["tiles"] = .array([.string(template)])
                }
            })
    }

    /// Addresses of files: one map, and the folder of the style pack.
    func files(_ map: (unit: InstalledFile, address: String), _ pack: URL) -> StyleRewriting {
        let folder = pack.absoluteURL.path.partsBetweenSlashes(omittingEmpty: true).map(ServedAddress.encoded)
        let root = "file:///" + folder.joined(separator: "/") + "/"
        let paths = { (path: String) in
            root + path.partsBetweenSlashes(omittingEmpty: true).map(ServedAddress.encoded).joined(separator: "/")
        }
        let wanted = Self.tileset(map.unit)
        return StyleRewriting(
            reference: { $0 }, sprite: { id, _ in paths(PackPath.sprite(id)) },
            glyphs: { _ in root + PackPath.glyphTemplate },
            tiles: { name, members in
                let isChosen = name == only && !tilesets.values.contains(wanted)
                guard tilesets[name] == wanted || isChosen else { return members }
                // The file says its zooms itself.
                return self.members(name, members, tileset: nil) { $0["url"] = .string(map.address) }
            })
    }

    /// A source with the members of its TileJSON document, the zooms of the installed files, and another address.
    private func members(
        _ name: String, _ members: [String: JSONValue], tileset: String?,
        change: (inout [String: JSONValue]) -> Void
    ) -> [String: JSONValue] {
        var result = members
        for key in ["minzoom", "maxzoom", "bounds", "attribution", "encoding", "vector_layers"] {
            if result[key] == nil { result[key] = documents[name]?[key] }
        }
        for key in ["url", "tiles", "scheme"] { result[key] = nil }
        if let tileset {
            let zooms = maps.filter { Self.tileset($0) == tileset }.compactMap(\.zooms)
            if let low = zooms.map(\.min).min(), let high = zooms.map(\.max).max() {
                (result["minzoom"], result["maxzoom"]) = (.number(Double(low)), .number(Double(high)))
            }
        } else {
            for key in ["minzoom", "maxzoom", "bounds", "vector_layers"] { result[key] = nil }
        }
        if let tileset = tilesets[name] { readings[tileset]?.correct(&result) }
        change(&result)
        return result
    }

    /// A source whose tiles are not installed: its tiles by way of the server.
    private func online(
        _ name: String, _ members: [String: JSONValue], full: (String) -> String
    ) -> [String: JSONValue] {
        var result = members
        if let document = documents[name], let address = result.removeValue(forKey: "url") {
            let base = if case .string(let text) = address { text } else { "" }
            result.merge(document.filter { $0.key != "tilejson" && $0.key != "name" }) { old, _ in old }
            if let first = Self.firstTile(document) {
                // A reference that cannot be resolved stays as it is.
                result["tiles"] = .array([.string((try? URLReference.resolve(first, against: base)) ?? first)])
            }
        }
        if case .string(let url)? = result["url"] { result["url"] = .string(full(url)) }
        if case .array(let list)? = result["tiles"] {
            result["tiles"] = .array(list.map { if case .string(let text) = $0 { .string(full(text)) } else { $0 } })
        }
        return result
    }
}
