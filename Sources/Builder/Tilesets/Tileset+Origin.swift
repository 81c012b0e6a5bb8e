extension Tileset {
    /// The origin for which the tileset's limits apply: lower-case `host[:port]` of its first URL; `nil` for files.
    ///
    /// All subdomains for `{s}` are one origin, because they usually lead to the same server. The default port of a
    /// scheme is left out.
    public var originName: String? {
        guard let text = source.firstURL, let mark = text.firstRange(of: "://") else {
            return nil
        }
        let authority = text[mark.upperBound...].prefix { !"/?#\\".contains($0) }.lowercased()
        var name = authority.split(separator: "@").last.map(String.init) ?? ""
        for part in ["{s}.", "{s}-", "{s}"] { name = name.replacing(part, with: "") }
        let port = text[..<mark.lowerBound].lowercased() == "https" ? ":443" : ":80"
        if name.hasSuffix(port) { name.removeLast(port.count) }
        return name.isEmpty || name.utf8.count > 300 ? nil : name
    }
}
