internal import Foundation
package import TextFormats

/// A style with other references.
package enum OfflineStyle {
    /// The style for the pack's own folder: every packed reference relative to it, every other one absolute.
    ///
    /// Keys are sorted, so the bytes are a function of the style.
    package static func relative(
        _ style: StyleDocument, base: String?, path: (String) -> String?
    ) throws -> [UInt8] {
        let packed = { (reference: String) -> String in
            // A reference that cannot be resolved stays as it is.
            guard let url = try? URLReference.resolve(reference, against: base) else { return reference }
            return path(url) ?? url
        }
        var root = rewritten(style, references: packed) { tiles in
            // A reference that cannot be resolved stays as it is.
            (try? URLReference.resolve(tiles, against: base)) ?? tiles
        }
        if !style.sprites.isEmpty { root["sprite"] = sprites(style) { PackPath.sprite($0.id) } }
        if style.glyphs != nil { root["glyphs"] = .string(PackPath.glyphTemplate) }
        return try encoded(root)
    }

    /// The style with every reference absolute; `nil` when all of them are already.
    package static func absolute(_ style: StyleDocument, base: String?) throws -> [UInt8]? {
        let full = { (reference: String) -> String in
            // A reference that cannot be resolved stays as it is.
            (try? URLReference.resolve(reference, against: base)) ?? reference
        }
        var root = rewritten(style, references: full, tiles: full)
        if !style.sprites.isEmpty { root["sprite"] = sprites(style) { full($0.url) } }
        if let glyphs = style.glyphs { root["glyphs"] = .string(full(glyphs)) }
        return root == style.root ? nil : try encoded(root)
    }

    /// The style without some sources, the layers that draw them, and terrain that uses them; `nil` if nothing is left
    /// out.
    ///
    /// - Throws: ``StylesError`` `bad-style` for a source that the style does not have.
    package static func reduced(_ style: StyleDocument, without: Set<String>) throws(StylesError) -> [UInt8]? {
        guard !without.isEmpty else { return nil }
        var root = style.root
        guard case .object(var sources)? = root["sources"], case .array(let layers)? = root["layers"] else {
            return nil
        }
        for name in without.sorted() where sources.removeValue(forKey: name) == nil {
            let known = style.sources.map(\.name).joined(separator: ", ")
            throw StylesError(.badStyle, "The style has no source '\(URLReference.shown(name))'; it has \(known).")
        }
        root["sources"] = .object(sources)
        root["layers"] = .array(
            layers.filter { layer in
                guard case .object(let members) = layer, case .string(let source)? = members["source"] else {
                    return true
                }
                return !without.contains(source)
            })
        if case .object(let terrain)? = root["terrain"], case .string(let source)? = terrain["source"],
            without.contains(source)
        {
            root["terrain"] = nil
        }
        return try rewritten { [root] in try encoded(root) }
    }

    /// Runs an encoder; an error (a number that JSON cannot represent) is reported as an error of the style.
    package static func rewritten<Value>(_ body: () throws -> Value) throws(StylesError) -> Value {
        do {
            return try body()
        } catch let error as StylesError {
            throw error
        } catch {
            throw StylesError(.badStyle, "The style cannot be rewritten: \(error)", cause: error)
        }
    }

    package static func encoded(_ root: [String: JSONValue]) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(JSONValue.object(root)))
    }

    private static func rewritten(
        _ style: StyleDocument, references reference: (String) -> String, tiles: (String) -> String
    ) -> [String: JSONValue] {
        var root = style.root
        guard case .object(var sources)? = root["sources"] else { return root }
        for source in style.sources {
            guard case .object(var members)? = sources[source.name] else { continue }
            let member = source.type == "geojson" ? "data" : "url"
            if let url = source.url, URLReference.scheme(of: url) != "data", source.type != "video" {
                members[member] = .string(reference(url))
            }
            if case .array(let list)? = members["tiles"] {
                members["tiles"] = .array(
                    list.map { if case .string(let text) = $0 { .string(tiles(text)) } else { $0 } })
            }
            sources[source.name] = .object(members)
        }
        root["sources"] = .object(sources)
        if case .object(let faces)? = root["font-faces"] {
            root["font-faces"] = .object(faces.mapValues { face($0, reference) })
        }
        return root
    }

    private static func face(_ value: JSONValue, _ reference: (String) -> String) -> JSONValue {
        switch value {
        case .string(let url): return .string(reference(url))
        case .array(let parts):
            return .array(
                parts.map { part in
                    guard case .object(var members) = part, case .string(let url)? = members["url"] else { return part }
                    members["url"] = .string(reference(url))
                    return .object(members)
                })
        case .null, .bool, .number, .object: return value
        }
    }

    private static func sprites(
        _ style: StyleDocument, _ address: (StyleDocument.Sprite) -> String
    ) -> JSONValue {
        if case .array? = style.root["sprite"] {
            return .array(style.sprites.map { .object(["id": .string($0.id), "url": .string(address($0))]) })
        }
        return style.sprites.first.map { .string(address($0)) } ?? .null
    }
}
