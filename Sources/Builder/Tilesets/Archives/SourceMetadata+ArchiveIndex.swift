public import Errors
import Foundation
internal import TextFormats
import Tiles

extension SourceMetadata {
    /// Reads an index of archives, such as `download_urls.json` of Mapterhorn: `items`, each with `url` (or `name`), `min_zoom`, `max_zoom`,
    /// and `size`.
    ///
    /// An archive named `6-33-22.pmtiles` has the tiles below tile 6/33/22. Any other one must have the whole world, by its bounds
    /// (`min_lon`, `min_lat`, `max_lon`, `max_lat`) or for lack of them.
    ///
    /// - Parameter address: Where it came from: a URL, or an absolute path; addresses in it are resolved against it.
    /// - Throws: ``TilesetsError`` `.badIndex` naming the item.
    public init(archiveIndex: [UInt8], from address: String) throws(TilesetsError) {
        self.init()
        var found = JSONValue(json: archiveIndex)
        if case .object(let members)? = found { found = members["items"] }
        guard case .array(let list)? = found else {
            throw Self.bad("it is no JSON document with 'items'; check its address")
        }
        guard 1...Tileset.maxArchives ~= list.count else {
            throw Self.bad("it lists \(list.count) archives; expected 1 to \(Tileset.maxArchives)")
        }
        for (number, item) in list.enumerated() {
            archives.append(try Self.part(item, "item \(number + 1)", from: address))
        }
    }

    private static func bad(_ why: String) -> TilesetsError {
        TilesetsError(.badIndex, "The index of archives cannot be used: \(why).")
    }

    private static func part(
        _ item: JSONValue, _ place: String, from base: String
    ) throws(TilesetsError) -> ArchivePart {
        guard case .object(let members) = item, let named = text(members["url"]) ?? text(members["name"]) else {
            throw bad("\(place) has no url")
        }
        func whole(_ name: String) -> UInt64? {
            guard case .number(let number)? = members[name] else { return nil }
            return UInt64(exactly: number)
        }
        guard let low = whole("min_zoom"), let high = whole("max_zoom"), low <= high, high <= 30,
            let zooms = ZoomRange(min: Int(low), max: min(Int(high), TileID.maxZoom))
        else { throw bad("'\(named.prefix(200))' has no min_zoom and max_zoom") }
        let address = try resolved(named, against: base)
        let file = SourceRow.path(ofURL: address).split(separator: "/").last ?? ""
        guard let cell = cell(String(file)) else {
            return ArchivePart(zooms, try world(members, named), size: whole("size"), at: address)
        }
        return ArchivePart(zooms, .cell(cell), size: whole("size"), at: address)
    }

    /// The tile in a name such as `6-33-22.pmtiles`.
    private static func cell(_ name: String) -> TileID? {
        let parts = name.prefix { $0 != "." }.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 3 ? TileID(parts.joined(separator: "/")) : nil
    }

    private static func world(
        _ members: [String: JSONValue], _ named: String
    ) throws(TilesetsError) -> ArchivePart.Extent {
        func number(_ name: String, _ other: Double) -> Double {
            if case .number(let number)? = members[name] { number } else { other }
        }
        // Web Mercator ends near 85.05 degrees; writers round.
        guard number("min_lon", -180) <= -179.9, number("max_lon", 180) >= 179.9, number("min_lat", -90) <= -84.9,
            number("max_lat", 90) >= 84.9
        else {
            throw bad(
                "'\(named.prefix(200))' has a part of the world, but its name does not say which tile; a name such as 6-33-22.pmtiles does"
            )
        }
        return .world
    }

    private static func resolved(_ text: String, against base: String) throws(TilesetsError) -> String {
        if SourceRow.isWeb(text[...]) { return text }
        guard SourceRow.isWeb(base[...]) else {
            return SourceRow.absolute(text, URL(fileURLWithPath: base).deletingLastPathComponent())
        }
        guard let url = URL(string: text, relativeTo: URL(string: base))?.absoluteURL else {
            throw bad("'\(text.prefix(200))' is no address")
        }
        return url.absoluteString
    }
}
