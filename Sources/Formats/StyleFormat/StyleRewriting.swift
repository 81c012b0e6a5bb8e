internal import Errors
package import TextFormats

/// Gives a style other addresses.
package struct StyleRewriting {
    /// The new form of an absolute address of a document, image, font or sprite.
    package var reference: (String) -> String
    /// The new address of a sprite, by its id and its absolute address.
    package var sprite: (_ id: String, _ address: String) -> String
    /// The new template of glyphs.
    package var glyphs: (String) -> String
    /// The new members of a source with tiles.
    package var tiles: (_ name: String, _ members: [String: JSONValue]) -> [String: JSONValue]

    package init(
        reference: @escaping (String) -> String, sprite: @escaping (_ id: String, _ address: String) -> String,
        glyphs: @escaping (String) -> String,
        tiles: @escaping (_ name: String, _ members: [String: JSONValue]) -> [String: JSONValue]
    ) {
        self.reference = reference
        self.sprite = sprite
        self.glyphs = glyphs
        self.tiles = tiles
    }

    /// The style with the new addresses, its keys sorted.
    ///
    /// - Throws: ``StylesError`` `bad-style`.
    package func apply(to style: [UInt8]) throws(StylesError) -> [UInt8] {
        guard case .object(var root)? = JSONValue(json: style), case .object(var sources)? = root["sources"] else {
            throw StylesError(.badStyle, "The style is not a JSON object with sources.")
        }
        for (name, source) in sources {
            guard case .object(var members) = source, case .string(let type)? = members["type"] else { continue }
            switch type {
            case "vector", "raster", "raster-dem": members = tiles(name, members)
            case "geojson": rewrite(&members["data"])
            case "image": rewrite(&members["url"])
            default: break
            }
            sources[name] = .object(members)
        }
        root["sources"] = .object(sources)
        if case .string(let text)? = root["glyphs"] { root["glyphs"] = .string(glyphs(text)) }
        switch root["sprite"] {
        case .string(let text)?: root["sprite"] = .string(sprite("default", text))
        case .array(let list)?: root["sprite"] = .array(list.map(rewritten))
        default: break
        }
        if case .object(let faces)? = root["font-faces"] { root["font-faces"] = .object(faces.mapValues(face)) }
        return try OfflineStyle.rewritten { [root] in try OfflineStyle.encoded(root) }
    }

    private func rewrite(_ value: inout JSONValue?) {
        if case .string(let text)? = value { value = .string(reference(text)) }
    }

    private func rewritten(_ item: JSONValue) -> JSONValue {
        guard case .object(var members) = item, case .string(let id)? = members["id"],
            case .string(let url)? = members["url"]
        else { return item }
        members["url"] = .string(sprite(id, url))
        return .object(members)
    }

    private func face(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let url): return .string(reference(url))
        case .array(let parts):
            return .array(
                parts.map { part in
                    guard case .object(var members) = part else { return part }
                    rewrite(&members["url"])
                    return .object(members)
                })
        default: return value
        }
    }
}
