public import Errors
import Foundation
internal import TextFormats
import TileBodies
import Tiles

extension SourceMetadata {
    /// Reads a TileJSON document, 2.x or 3.0.
    ///
    /// Members whose value is `null` count as missing.
    ///
    /// - Parameter url: Where it came from, after redirects (RFC 3986, 5.1.3); relative tile URLs are resolved against it.
    /// - Throws: ``TilesetsError`` `.badTileJSON` naming the member.
    public init(tileJSON: [UInt8], from url: String) throws(TilesetsError) {
        self.init()
        guard case .object(let members)? = JSONValue(json: tileJSON) else {
            let isPage = tileJSON.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "<")
            throw TilesetsError(
                .badTileJSON,
                "The TileJSON document is \(isPage ? "an HTML or XML page" : "not a JSON object"); check the tileset's url."
            )
        }
        let values = members.filter { $0.value != .null }
        guard case .array(let tiles)? = values["tiles"], !tiles.isEmpty else {
            throw TilesetsError(.badTileJSON, "The TileJSON document has no 'tiles'; check the tileset's url.")
        }
        for tile in tiles {
            guard case .string(let text) = tile, let absolute = Self.resolve(try TemplateSpelling(text), against: url)
            else {
                throw TilesetsError(.badTileJSON, "The TileJSON document's 'tiles' has an element that is not a URL.")
            }
            templates += absolute
        }
        let shallow = try Self.zoom(values["minzoom"], "minzoom") ?? 0
        let deep = try Self.zoom(values["maxzoom"], "maxzoom") ?? TileID.maxZoom
        guard let range = ZoomRange(min: shallow, max: deep) else {
            throw TilesetsError(.badTileJSON, "The TileJSON document has minzoom \(shallow) above maxzoom \(deep).")
        }
        // Both default to the whole range in TileJSON; without maxzoom the depth is unknown.
        zooms = values["maxzoom"] == nil ? nil : range
        if case .array(let numbers)? = values["bounds"] {
            bounds = Self.bounds(numbers.compactMap { if case .number(let number) = $0 { number } else { nil } })
        }
        switch Self.text(values["scheme"]) {
        case nil, "xyz": rowOrder = .xyz
        case "tms": rowOrder = .tms
        case let other?:
            throw TilesetsError(
                .badTileJSON, "The TileJSON document has scheme '\(other.prefix(20))'; expected xyz or tms.")
        }
        if let bands = values[PackScheme.sourceKey] {
            do throws(TilesError) { packs = try PackScheme(bands: bands) } catch {
                throw TilesetsError(
                    .badTileJSON, "The TileJSON document's '\(PackScheme.sourceKey)' cannot be read: \(error.message)")
            }
        }
        if case .array(let layers)? = values["vector_layers"] {
            for (number, layer) in layers.enumerated() {
                guard case .object(let members) = layer, case .string? = members["id"] else {
                    throw TilesetsError(
                        .badTileJSON,
                        "The TileJSON document's 'vector_layers' has an element without an 'id' that is text: the \(number + 1). of \(layers.count)."
                    )
                }
            }
        }
        merge(metadataJSON: tileJSON)
        if let word = Self.text(values["format"]) {
            format = TileFormat(word: word)
            foreignFormat = ForeignFormat(word: word)
        }
        // Renderers go by this member, whatever the addresses end in.
        if let word = Self.text(values["encoding"]), word == TileFormat.mlt.rawValue { format = .mlt }
        if format == nil, foreignFormat == nil, let first = templates.first {
            format = TileFormat(ofAddress: first) ?? TileFormat(ofQuery: first)
        }
        if format == nil, foreignFormat == nil, vectorLayers != nil { format = .mvt }
    }

    private static func zoom(_ value: JSONValue?, _ name: String) throws(TilesetsError) -> Int? {
        guard let value else { return nil }
        guard case .number(let number) = value, let zoom = Int(exactly: number), (0...30).contains(zoom) else {
            throw TilesetsError(.badTileJSON, "The TileJSON document's '\(name)' is not a zoom; expected 0...30.")
        }
        return min(zoom, TileID.maxZoom)
    }

    /// A template for each server that the text lists, resolved against the document's address; braces are kept.
    private static func resolve(_ spelling: TemplateSpelling, against base: String) -> [String]? {
        guard let template = resolve(spelling.text, against: base) else { return nil }
        guard !spelling.subdomains.isEmpty else { return [template] }
        return spelling.subdomains.map { template.replacing("{s}", with: $0) }
    }

    private static func resolve(_ template: String, against base: String) -> String? {
        if template.lowercased().hasPrefix("http://") || template.lowercased().hasPrefix("https://") { return template }
        guard !template.isEmpty, template.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }),
            let base = URL(string: base)
        else { return nil }
        let escaped = template.replacing("{", with: "%7B").replacing("}", with: "%7D")
        guard let url = URL(string: escaped, relativeTo: base)?.absoluteURL else { return nil }
        return url.absoluteString.replacing("%7B", with: "{").replacing("%7D", with: "}")
    }
}
