public import Foundation
internal import PackageFiles
internal import TextFormats
internal import TileBodies
internal import Tiles

extension ResourceResolver {
    /// The TileJSON document of an installed tileset; `nil` when it is not installed.
    ///
    /// Version 3.0.0 requires `vector_layers` for vector tiles: they are taken from the metadata of the files. Where no
    /// file lists them, as in packs that were filled from a tile server, the document is of version 2.2.0, which does not
    /// know the member.
    ///
    /// - Parameters:
    ///   - id: The name of the tileset.
    ///   - template: The address of its tiles, with `{z}`, `{x}` and `{y}`.
    public func tileJSON(of id: String, at template: String) -> Data? {
        guard let tileset = tilesets.first(where: { $0.id == id }) else { return nil }
        let layers = tiles.layers(of: id)
        let box = tileset.bounds
        // Across the antimeridian, TileJSON has no box but the whole width.
        let (west, east) = box.crossesAntimeridian ? (-180.0, 180.0) : (box.west, box.east)
        let isThree = layers.vectorLayers != nil || layers.source?.format?.traits.isVector == false
        var members: [String: JSONValue] = [
            "tilejson": .string(isThree ? "3.0.0" : "2.2.0"), "name": .string(id),
            "tiles": .array([.string(template)]), "minzoom": .number(Double(tileset.zooms.min)),
            "maxzoom": .number(Double(tileset.zooms.max)),
            "bounds": .array([west, box.south, east, box.north].map(JSONValue.number)),
        ]
        members["vector_layers"] = layers.vectorLayers
        members.merge(layers.source?.tileJSON ?? [:]) { $1 }
        if !tileset.attributions.isEmpty {
            members["attribution"] = .string(tileset.attributions.joined(separator: ", "))
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and finite numbers can always be encoded.
        return try? encoder.encode(JSONValue.object(members))
    }
}
