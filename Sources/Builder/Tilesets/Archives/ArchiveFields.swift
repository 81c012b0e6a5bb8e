import Errors
import Foundation
internal import TextFormats
import Tiles

/// Reads the key `archives` of a tileset file: a list of archives with their zooms, or the address of an index.
enum ArchiveFields {
    private static let keys = ["url", "zoom", "cell_zoom"]

    /// The source; `nil` for a file without the key.
    ///
    /// - Parameter folder: Where relative paths begin.
    static func source(
        _ value: JSONValue?, _ reader: FieldReader, folder: URL
    ) throws(TilesetsError) -> TileSource? {
        switch value {
        case nil: return nil
        case .string(let index)?: return TileSource(.archiveIndex, SourceRow.absolute(index, folder))
        case .array(let items)? where !items.isEmpty:
            var texts: [String] = []
            for item in items { texts.append(try part(item, reader, in: folder).text) }
            return TileSource(.archives, texts)
        case .object?, .array?, .number?, .bool?, .null?:
            throw TilesetsError(
                .badValue,
                "Tileset file '\(reader.name)': archives must be a list such as [{url: planet.pmtiles, zoom: 0-12}], or the address of an index."
            )
        }
    }

    private static func part(
        _ value: JSONValue, _ reader: FieldReader, in folder: URL
    ) throws(TilesetsError) -> ArchivePart {
        let inner = try FieldReader(value, name: reader.name, path: "archives", known: keys)
        guard let url = try inner.text("url"), let zoom = try inner.text("zoom") else {
            throw TilesetsError(
                .missingKey,
                "Tileset file '\(reader.name)': each of the archives needs url and zoom, for example {url: planet.pmtiles, zoom: 0-12}."
            )
        }
        let zooms: ZoomRange
        do throws(TilesError) { zooms = try ZoomRange(parsing: zoom) } catch {
            throw TilesetsError(.badValue, "Tileset file '\(reader.name)': archives: \(error.message)")
        }
        let cell = try inner.integer("cell_zoom", in: 0...TileID.maxZoom)
        return ArchivePart(zooms, cell.map { .cells(zoom: $0) } ?? .world, at: SourceRow.absolute(url, folder))
    }
}

extension SourceRow {
    /// The address of an archive: a URL as it is, and the absolute path of a file; `pmtiles:` and `mbtiles:` may stand before both.
    static func absolute(_ text: String, _ folder: URL) -> String {
        var rest = text[...]
        for word in ["archives:", "pmtiles:", "mbtiles:"] where rest.hasPrefix(word) {
            rest = rest.dropFirst(word.count)
        }
        if isWeb(rest) { return TemplateSpelling.withPlainBraces(String(rest)) }
        return absolute(path: withoutSlashes(rest), folder)
    }

    /// The address of an index of archives: one after `archives:`.
    static let readArchiveIndex: @Sendable ([String], URL) throws(TilesetsError) -> [String]? = {
        (texts, folder) throws(TilesetsError) in
        guard let first = texts.first, first.hasPrefix("archives:") else { return nil }
        guard texts.count == 1, first.count > 9 else {
            throw TilesetsError(
                .badValue, "'url' with archives: must name one index; write a list of archives under 'archives'.")
        }
        return [absolute(first, folder)]
    }
}
