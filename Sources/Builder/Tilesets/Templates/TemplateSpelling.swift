import Errors

/// A tile URL as other programs write it, in the placeholders of Packhorse.
///
/// Only what has one meaning is translated; everything else stays, and the template refuses it with advice. Sources of the names: the pages
/// of JOSM, MapLibre, Leaflet, OpenLayers, OsmAnd, MOBAC, GDAL and QGIS about tile addresses.
struct TemplateSpelling {
    /// The URL with the placeholders of ``TilePlaceholder``, as far as their meaning is certain.
    private(set) var text = ""
    /// What `{s}` stands for, where the URL lists it.
    private(set) var subdomains: [String] = []
    /// Four times the longest template: encoded braces and lists of servers take more than what they become.
    private static let maxBytes = 16_384
    /// What was read as what, each once: `{zoom} as {z}`.
    private(set) var changes: [String] = []

    /// Reads a URL.
    ///
    /// Percent-encoded braces around a placeholder are plain ones: browsers copy `%7Bz%7D` for `{z}`.
    ///
    /// - Throws: ``TilesetsError`` `.badTemplate` when it lists two different sets of servers, or is longer than any that is used.
    init(_ written: String) throws(TilesetsError) {
        let size = written.utf8.count
        guard size <= Self.maxBytes else {
            throw TilesetsError(
                .badTemplate, "A tile URL of \(size) bytes is too long; at most \(Self.maxBytes) are read.")
        }
        let plain = Self.withPlainBraces(written)
        let isNumbered = ["{0}", "{1}", "{2}"].allSatisfy(plain.contains)
        let isMercator = Self.namesMercator(plain)
        var rest = plain[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let name = String(rest[rest.index(after: open)..<close])
            let isDollared = rest[..<open].last == "$"
            let ours = try translated(
                name, isNumbered: isNumbered, isMercator: isMercator, isHost: !(text + rest[..<open]).hasPath)
            text += isDollared && ours != nil ? rest[..<open].dropLast() : rest[..<open]
            text += ours ?? "{\(name)}"
            if let ours, isDollared || ours != "{\(name)}" { note("\(isDollared ? "$" : "")\("{\(name)}") as \(ours)") }
            rest = rest[rest.index(after: close)...]
        }
        text += rest
    }

    /// An address without the kind and zooms that JOSM writes before it: `tms[2,19]:https://…`; `nil` for one without them.
    static func withoutKind(_ written: String) -> (kind: String, address: String)? {
        guard let mark = written.firstRange(of: ":http"), written[..<mark.lowerBound].utf8.count <= 16 else {
            return nil
        }
        let kind = written[..<mark.lowerBound]
        guard ["tms", "wms"].contains(kind.prefix { $0 != "[" }.lowercased()) else { return nil }
        return (String(kind), String(written[written.index(after: mark.lowerBound)...]))
    }

    private mutating func note(_ change: String) {
        if !changes.contains(change) { changes.append(change) }
    }

    /// What a placeholder means, with its braces; `nil` for one that is not understood.
    private mutating func translated(
        _ name: String, isNumbered: Bool, isMercator: Bool, isHost: Bool
    ) throws(TilesetsError) -> String? {
        if TilePlaceholder(name) != nil || name.hasPrefix("z:") { return "{\(name)}" }
        if let servers = Self.servers(name, isHost: isHost) {
            guard subdomains.isEmpty || subdomains == servers else {
                throw TilesetsError(
                    .badTemplate, "A tile URL lists two different sets of servers; write {s} once, and 'subdomains'.")
            }
            subdomains = servers
            return "{s}"
        }
        let plain = (name.hasPrefix("$") ? name.dropFirst() : name[...]).lowercased()
        if isNumbered, let place = Int(plain), (0...2).contains(place) { return ["{z}", "{x}", "{y}"][place] }
        if plain == "bbox", isMercator { return "{bbox-epsg-3857}" }
        if plain == "proj", isMercator { return "EPSG:3857" }
        return Self.otherNames[plain].map { "{\($0)}" }
    }

    /// What other programs call our placeholders, lower case.
    private static let otherNames = [
        "z": "z", "x": "x", "y": "y", "zoom": "z", "level": "z", "tilematrix": "z", "tile_matrix": "z", "col": "x",
        "column": "x", "tilecol": "x", "tile_col": "x", "row": "y", "tilerow": "y", "tile_row": "y", "!y": "-y",
        "tmsy": "-y", "inverty": "-y", "yinverted": "-y", "q": "q", "quadkey": "q", "quad": "q", "subdomain": "s",
        "serverpart": "s", "switch": "s", "lang": "language", "locale": "language", "culture": "language",
        "retina": "ratio", "@2x": "ratio", "bbox_epsg_3857": "bbox-epsg-3857", "bbox-epsg-900913": "bbox-epsg-3857",
    ]

    /// The servers that `{switch:a,b}`, and in a host `{a,b,c}`, `{a-c}` and `{0-3}` list; `nil` for other placeholders.
    private static func servers(_ name: String, isHost: Bool) -> [String]? {
        let prefix = "switch:"
        let isSwitch = name.lowercased().hasPrefix(prefix)
        guard isSwitch || isHost else { return nil }
        let list = isSwitch ? name.dropFirst(prefix.count) : name[...]
        let words = list.split(separator: ",").map { $0.filter { $0 != " " } }
        if words.count > 1 || isSwitch { return words.isEmpty ? nil : words }
        let ends = list.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.count == 1 }), let first = ends[0].first, let last = ends[1].first,
            first < last, isLetterOrDigit(first) && isLetterOrDigit(last), (first < 0x3A) == (last < 0x3A)
        else { return nil }
        return (first...last).map { String(Unicode.Scalar($0)) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
    }

    /// Whether `{bbox}` can only mean a box in Web Mercator: JOSM's `{proj}` is ours to choose.
    private static func namesMercator(_ text: String) -> Bool {
        let plain = text.lowercased()
        return plain.contains("{proj}") || WebMercator.names.contains { plain.contains($0.lowercased()) }
            || plain.contains("bboxsr=3857") || plain.contains("bboxsr=102100")
    }

    /// A text whose percent-encoded braces around a name that is understood are plain.
    static func withPlainBraces(_ text: String) -> String {
        guard text.contains("%7") else { return text }
        return text.replacing(#/%7[Bb]([^%{}\/?&]{1,200})%7[Dd]/#) { match in
            let name = match.output.1.lowercased()
            let isKnown = TilePlaceholder(name) != nil || otherNames[name] != nil || name.hasPrefix("switch:")
            return isKnown ? "{\(match.output.1)}" : String(match.output.0)
        }
    }
}

extension String {
    /// Whether the text of a URL goes beyond its host.
    fileprivate var hasPath: Bool {
        guard let mark = firstRange(of: "://") else { return false }
        return self[mark.upperBound...].contains("/")
    }
}
