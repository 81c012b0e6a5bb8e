internal import Foundation
internal import Regions
internal import Tiles
internal import WorldTiles

/// What a path asks the demo world for.
///
/// Total: every text is one of these.
///
/// Paths may begin with a language, or have `?language=xx` (`?lang=xx`), which has priority: `/tiles/{z}/{x}/{y}.pbf`
/// (also `.mvt`), `/tiles.json`, `/style.json`, `/sprite.json`, `/sprite.png` (both also with `@2x`), `/fonts/Demo
/// Regular/{range}.pbf`, `/healthz`, `/`, and `/html/tiles/…`, which always answers an HTML page with status 200 as
/// some broken servers do.
enum DemoRoute: Hashable {
    case index
    case health
    case tileJSON(language: String?)
    case style(language: String?)
    case tile(TileID, language: String?)
    case spriteJSON(density: Int)
    case spriteImage(density: Int)
    case glyphs(start: Int)
    case htmlPage
    /// A well-formed tile that no zoom has.
    case outOfRange
    /// Answered 400 with this text.
    case malformed(String)
    case notFound

    /// Reads a path (percent decoding is for the name of a font only) and a query.
    init(path: String, query: String?) {
        var language = Self.language(in: query)
        if let language, !RegionTree.languages.contains(language) {
            self = .malformed("unknown language; known are \(RegionTree.languages.joined(separator: ", "))")
            return
        }
        var parts = path.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 8, omittingEmptySubsequences: false)
            .dropFirst().map { String(decoding: $0, as: UTF8.self) }
        if let first = parts.first, RegionTree.languages.contains(first) {
            language = language ?? first
            parts.removeFirst()
        }
        switch parts {
        case [], [""]: self = .index
        case ["healthz"]: self = .health
        case ["tiles.json"]: self = .tileJSON(language: language)
        case ["style.json"]: self = .style(language: language)
        case ["sprite.json"]: self = .spriteJSON(density: 1)
        case ["sprite@2x.json"]: self = .spriteJSON(density: 2)
        case ["sprite.png"]: self = .spriteImage(density: 1)
        case ["sprite@2x.png"]: self = .spriteImage(density: 2)
        case _ where parts.first == "fonts" && parts.count == 3: self = Self.glyphs(parts[1], parts[2])
        case _ where parts.first == "html" && parts.count > 1: self = .htmlPage
        case _ where parts.first == "tiles" && parts.count == 4:
            self = Self.tile(z: parts[1], x: parts[2], file: parts[3], language: language)
        case _ where parts.first == "tiles": self = .malformed("expected /tiles/{z}/{x}/{y}.pbf")
        default: self = .notFound
        }
    }

    private static func tile(z: String, x: String, file: String, language: String?) -> DemoRoute {
        guard file.hasSuffix(".pbf") || file.hasSuffix(".mvt"), let zoom = number(z[...]), let column = number(x[...]),
            let row = number(file.dropLast(4))
        else { return .malformed("expected /tiles/{z}/{x}/{y}.pbf with whole numbers") }
        guard let tile = TileID(zoom: zoom, x: column, y: row) else { return .outOfRange }
        return .tile(tile, language: language)
    }

    private static func glyphs(_ font: String, _ file: String) -> DemoRoute {
        let ends = file.split(separator: "-", omittingEmptySubsequences: false)
        guard font.removingPercentEncoding == WorldGlyphs.font else { return .notFound }
        guard ends.count == 2, ends[1].hasSuffix(".pbf"), let start = number(ends[0]),
            let last = number(ends[1].dropLast(4)), start % 256 == 0, start < 65_536, last == start + 255
        else { return .malformed("expected /fonts/\(WorldGlyphs.font)/{range}.pbf with ranges 0-255 to 65280-65535") }
        return .glyphs(start: start)
    }

    /// One to ten digits; no sign, no space.
    private static func number(_ text: Substring) -> Int? {
        guard (1...10).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }

    private static func language(in query: String?) -> String? {
        for pair in (query ?? "").utf8.split(separator: UInt8(ascii: "&"), maxSplits: 16) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1).map {
                String(decoding: $0, as: UTF8.self)
            }
            if parts.count == 2, parts[0] == "language" || parts[0] == "lang" { return parts[1] }
        }
        return nil
    }
}
