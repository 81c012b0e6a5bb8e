import Foundation

/// What a path of the server names.
enum MapRoute: Equatable {
    /// A list of everything, for people.
    case index
    /// A style with addresses of this server.
    case style(String)
    /// The TileJSON of a tileset.
    case tileset(String)
    /// A tile, or what a style of this server names.
    case resource(String)

    /// Reads a path with its query, as it was sent.
    init(_ path: String) {
        let plain = path.prefix { $0 != "?" }
        func name(after prefix: String) -> String? {
            guard plain.hasPrefix(prefix), plain.hasSuffix(".json") else { return nil }
            let name = plain.dropFirst(prefix.count).dropLast(".json".count)
            return name.isEmpty || name.contains("/") ? nil : String(name).removingPercentEncoding
        }
        if plain == "/" || plain.isEmpty {
            self = .index
        } else if let id = name(after: "/styles/") {
            self = .style(id)
        } else if let id = name(after: "/tilesets/") {
            self = .tileset(id)
        } else {
            self = .resource(String(path.drop { $0 == "/" }))
        }
    }
}
