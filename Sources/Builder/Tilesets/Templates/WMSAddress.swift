import Errors

/// A tile URL that asks a map service for a picture of a box: it is checked, and completed by what every service requires.
///
/// Sources: OGC 06-042 (WMS 1.3.0), 7.3.3, and OGC 01-068r3 (1.1.1), 7.2.3.
struct WMSAddress {
    /// The URL as it is requested.
    private(set) var text: String
    /// What was added or replaced, in words.
    private(set) var changes: [String] = []

    /// - Throws: ``TilesetsError`` `.badTemplate` for another reference system than Web Mercator, or without layers or format.
    init(_ text: String) throws(TilesetsError) {
        self.text = text
        guard text.contains("{bbox-epsg-3857}") else { return }
        var query = QueryText(text)
        if query["request"]?.lowercased() == "getmap" { try complete(&query) }
        for name in ["bboxsr", "imagesr"] {
            guard let system = query[name], let code = Double(system), !WebMercator.isCode(code) else { continue }
            throw Self.wrong(system, name)
        }
    }

    private mutating func complete(_ query: inout QueryText) throws(TilesetsError) {
        guard query["layers"]?.isEmpty == false || query["sld"] != nil || query["sld_body"] != nil else {
            throw TilesetsError(.badTemplate, "A WMS address names no layers; add layers=NAME.")
        }
        guard query["format"]?.isEmpty == false else {
            throw TilesetsError(.badTemplate, "A WMS address names no format of its pictures; add format=image/png.")
        }
        if query["service"] == nil { add("service", "WMS", to: &query) }
        let version = query["version"] ?? (query["crs"] == nil ? "1.1.1" : "1.3.0")
        if query["version"] == nil { add("version", version, to: &query) }
        try chooseSystem(version, &query)
        if query["styles"] == nil, query["sld"] == nil { add("styles", "", to: &query) }
        for side in ["width", "height"] where query[side] == nil { add(side, "{\(side)}", to: &query) }
        guard query["width"] == query["height"] || query["width"] == "{width}" && query["height"] == "{height}" else {
            throw TilesetsError(
                .badTemplate,
                "A WMS address asks for pictures of \(query["width"] ?? "") × \(query["height"] ?? "") pixels; tiles are squares: write width={width}&height={height}."
            )
        }
        // Messages as text: a picture with the message, or a blank one, would be stored as a tile.
        let wanted = version.hasPrefix("1.3") ? "XML" : "application/vnd.ogc.se_xml"
        let known = query["exceptions"]?.lowercased()
        if known == nil || known?.contains("image") == true || known?.contains("blank") == true {
            add("exceptions", wanted, to: &query)
        }
        text = query.text
    }

    private mutating func add(_ name: String, _ value: String, to query: inout QueryText) {
        query.set(name, value)
        changes.append("\(name)=\(value)")
    }

    /// `crs` from version 1.3.0 on, `srs` before: EPSG:3857, whose axes are x and y in both.
    private mutating func chooseSystem(_ version: String, _ query: inout QueryText) throws(TilesetsError) {
        let (name, other) = version.hasPrefix("1.3") ? ("crs", "srs") : ("srs", "crs")
        let system = query[name] ?? query[other] ?? "EPSG:3857"
        guard WebMercator.isName(system) else { throw Self.wrong(system, name) }
        guard query[name] == nil else { return }
        query.remove(other)
        add(name, system, to: &query)
    }

    private static func wrong(_ system: String, _ name: String) -> TilesetsError {
        TilesetsError(
            .badTemplate,
            "A tile URL asks for the reference system '\(system.prefix(40))', but {bbox-epsg-3857} is a box in EPSG:3857; write \(name)=\(name.hasSuffix("sr") ? "3857" : "EPSG:3857")."
        )
    }
}
