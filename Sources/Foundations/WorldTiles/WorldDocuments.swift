internal import Foundation
internal import Regions

/// The JSON documents and the index page of the demo world.
package enum WorldDocuments {
    /// TileJSON 3.0 of the world as seen at `base`, such as `http://localhost:8080`.
    package static func tileJSON(base: String, language: String?, maxZoom: Int) throws -> [UInt8] {
        let names = ["name": "String"].merging(RegionTree.languages.map { ("name_\($0)", "String") }) { $1 }
        let document = TileJSON(
            tilejson: "3.0.0", name: "Packhorse demo world",
            description:
                "Countries and regions of the embedded world tree; made for trying Packhorse without a network",
            version: "1.0.0", attribution: RegionTree.attribution.joined(separator: " "), scheme: "xyz",
            tiles: ["\(prefix(base, language))/tiles/{z}/{x}/{y}.pbf"], minzoom: 0, maxzoom: maxZoom,
            bounds: [-180, -85.0511, 180, 85.0511], center: [10, 50, 4],
            vectorLayers: [
                Layer(
                    id: "countries", description: "Ground of countries", minzoom: 0, maxzoom: maxZoom,
                    fields: names.merging(["id": "String", "iso": "String"]) { $1 }),
                Layer(
                    id: "regions", description: "Ground of the regions of seven countries",
                    minzoom: min(TileCutter.firstRegionZoom, maxZoom), maxzoom: maxZoom,
                    fields: names.merging(["id": "String", "country": "String"]) { $1 }),
                Layer(
                    id: "labels", description: "Places of names", minzoom: 0, maxzoom: maxZoom,
                    fields: names.merging(
                        ["id": "String", "iso": "String", "country": "String", "kind": "String", "rank": "Number"]
                    ) { $1 }),
                Layer(
                    id: "grid", description: "Meridians and parallels over land", minzoom: 0, maxzoom: maxZoom,
                    fields: ["kind": "String", "degrees": "Number", "label": "String"]),
            ])
        return try encoded(document)
    }

    /// A MapLibre style over that TileJSON, with icons and names; the server's own sprite and glyphs serve it.
    package static func style(base: String, language: String?) throws -> [UInt8] {
        func layer(
            _ id: String, type: String, source: String?, paint: [String: Paint], layout: [String: Paint]? = nil
        ) -> StyleLayer {
            StyleLayer(
                id: id, type: type, source: source == nil ? nil : "world", sourceLayer: source, layout: layout,
                paint: paint)
        }
        let style = Style(
            version: 8, name: "Packhorse demo world", center: [10, 50], zoom: 4,
            sources: ["world": Source(type: "vector", url: "\(prefix(base, language))/tiles.json")],
            sprite: "\(base)/sprite", glyphs: "\(base)/fonts/{fontstack}/{range}.pbf",
            layers: [
                layer("sea", type: "background", source: nil, paint: ["background-color": .text("#cfe3ee")]),
                layer(
                    "countries", type: "fill", source: "countries",
                    paint: ["fill-color": .text("#f4f0e4"), "fill-outline-color": .text("#8a7f6a")]),
                layer(
                    "grid", type: "line", source: "grid",
                    paint: ["line-color": .text("#d8d2c0"), "line-width": .number(0.5)]),
                layer(
                    "regions", type: "line", source: "regions",
                    paint: ["line-color": .text("#b8ad93"), "line-width": .number(0.75)]),
                layer(
                    "borders", type: "line", source: "countries",
                    paint: ["line-color": .text("#8a7f6a"), "line-width": .number(1.25)]),
                layer(
                    "labels", type: "symbol", source: "labels", paint: ["text-color": .text("#4a3728")],
                    layout: [
                        "icon-image": .list([
                            .text("match"), .list([.text("get"), .text("kind")]), .text("country"), .text("country"),
                            .text("region"), .text("region"), .text("place"),
                        ]),
                        "text-field": .list([.text("get"), .text("name")]),
                        "text-font": .list([.text(WorldGlyphs.font)]),
                        "text-size": .number(12), "text-anchor": .text("top"),
                        "text-offset": .list([.number(0), .number(0.6)]), "text-optional": .flag(true),
                    ]),
            ])
        return try encoded(style)
    }

    /// A few lines for people.
    package static func index(base: String) -> [UInt8] {
        Array(
            """
            Packhorse demo world: vector tiles of countries and regions, made on the spot.

            \(base)/tiles.json            TileJSON 3.0
            \(base)/style.json            MapLibre style, with \(base)/sprite and \(base)/fonts
            \(base)/tiles/{z}/{x}/{y}.pbf  tiles, zoom 0-22
            \(base)/de/tiles.json         the same in another language: \(RegionTree.languages.joined(separator: " "))
            \(base)/html/tiles.json       a broken server: an HTML page for everything
            \(base)/healthz

            \(RegionTree.attribution.joined(separator: "\n"))

            """.utf8)
    }

    /// The page that a broken server sends with status 200.
    package static let htmlPage = Array(
        "<!DOCTYPE html><html><head><title>Sorry</title></head><body><h1>We will be back soon</h1></body></html>".utf8)

    private static func prefix(_ base: String, _ language: String?) -> String {
        language.map { "\(base)/\($0)" } ?? base
    }

    private static func encoded(_ document: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        return [UInt8](try encoder.encode(document))
    }
}

private struct TileJSON: Encodable {
    let tilejson, name, description, version, attribution, scheme: String
    let tiles: [String]
    let minzoom, maxzoom: Int
    let bounds, center: [Double]
    let vectorLayers: [Layer]

    enum CodingKeys: String, CodingKey {
        case tilejson, name, description, version, attribution, scheme, tiles, minzoom, maxzoom, bounds, center
        case vectorLayers = "vector_layers"
    }
}

private struct Layer: Encodable {
    let id, description: String
    let minzoom, maxzoom: Int
    let fields: [String: String]
}

private struct Style: Encodable {
    let version: Int
    let name: String
    let center: [Double]
    let zoom: Double
    let sources: [String: Source]
    let sprite, glyphs: String
    let layers: [StyleLayer]
}

private struct Source: Encodable {
    let type, url: String
}

private struct StyleLayer: Encodable {
    let id, type: String
    let source, sourceLayer: String?
    let layout: [String: Paint]?
    let paint: [String: Paint]

    enum CodingKeys: String, CodingKey {
        case id, type, source, layout, paint
        case sourceLayer = "source-layer"
    }
}

private indirect enum Paint: Encodable {
    case text(String)
    case number(Double)
    case flag(Bool)
    case list([Paint])

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .flag(let flag): try container.encode(flag)
        case .list(let list): try container.encode(list)
        }
    }
}
