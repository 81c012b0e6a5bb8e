import Errors
import Foundation
internal import TextFormats
package import TileBodies
import Tiles

extension WMTSCapabilities {
    /// The address that is asked for capabilities: the one of the tileset, without the layer, with the parameters of the request unless
    /// it has them or names a file.
    package static func address(_ named: String) -> String {
        var query = QueryText(named)
        let isFile = SourceRow.path(ofURL: named).lowercased().hasSuffix(".xml")
        guard query["request"] == nil, !isFile else { return query.text }
        query.set("service", "WMTS")
        query.set("request", "GetCapabilities")
        query.set("version", "1.0.0")
        return query.text
    }

    /// The same for the layer and the format of a tileset file.
    ///
    /// - Throws: As ``metadata(layer:format:address:)``.
    package func metadata(of file: TilesetFile) throws(TilesetsError) -> SourceMetadata {
        let address = file.source.address
        let layer = address.firstIndex(of: "#").map { String(address[address.index(after: $0)...]) }
        return try metadata(
            layer: layer.map { $0.removingPercentEncoding ?? $0 }, format: file.fields.format,
            address: String(address.prefix { $0 != "#" }))
    }

    /// The tile address of a layer and what is known about its tiles.
    ///
    /// - Parameters:
    ///   - wanted: The identifier of the layer; may be left out where there is one.
    ///   - format: The format that the tileset names.
    ///   - address: The address that was asked, with `{key}`: its own parameters belong to tile requests too.
    /// - Throws: ``TilesetsError`` `.badService` with the reason, and the layers or grids that the service has.
    package func metadata(
        layer wanted: String?, format: TileFormat?, address: String
    ) throws(TilesetsError) -> SourceMetadata {
        let layer = try layer(wanted)
        let (id, grid) = try grid(of: layer)
        let (word, known) = try self.format(of: layer, format)
        let style = layer.styles.first(where: \.isDefault)?.id ?? layer.styles.first?.id ?? ""
        var metadata = SourceMetadata()
        metadata.templates = [template(layer, style: style, grid: (id, grid.zoomText), format: word, address: address)]
        metadata.format = known
        metadata.zooms = grid.zooms
        metadata.tileSize = grid.tileSize
        metadata.bounds = SourceMetadata.bounds(layer.corners)
        metadata.name = layer.title.isEmpty ? nil : layer.title
        metadata.description = layer.abstract.isEmpty ? nil : layer.abstract
        for dimension in layer.dimensions where ["", "current", "default"].contains(dimension.value) {
            metadata.remarks.append(
                "The layer's dimension '\(dimension.id)' has no fixed value, so tiles of one job may be of different data."
            )
        }
        if let asked = URLHost(address)?.name, let told = URLHost(metadata.templates[0])?.name, asked != told {
            metadata.remarks.append("The capabilities of \(asked) name \(told) as the server of the tiles.")
        }
        return metadata
    }

    private func layer(_ wanted: String?) throws(TilesetsError) -> Layer {
        let ids = layers.map(\.id)
        guard let wanted, !wanted.isEmpty else {
            if layers.count == 1 { return layers[0] }
            throw TilesetsError(
                .badService, "The WMTS has \(layers.count) layers; write wmts:URL#LAYER with one of \(Self.list(ids)).")
        }
        if let found = layers.first(where: { $0.id == wanted }) { return found }
        let nearest = Nearest.word(to: wanted, among: ids).map { "did you mean '\($0)'? " } ?? ""
        throw TilesetsError(
            .badService, "The WMTS has no layer '\(wanted.prefix(80))'; \(nearest)It has \(Self.list(ids)).")
    }

    /// The grid in Web Mercator with the most zooms.
    private func grid(of layer: Layer) throws(TilesetsError) -> (id: String, WMTSGrid) {
        var found: [(id: String, grid: WMTSGrid)] = []
        var faults: [String] = []
        let known = Dictionary(grids.map { ($0.id, $0) }) { first, _ in first }
        for link in layer.links {
            guard let grid = known[link.grid] else {
                faults.append("'\(link.grid.prefix(60))' is not described")
                continue
            }
            do throws(TilesetsError) { found.append((grid.id, try WMTSGrid(grid, limits: link.matrices))) } catch {
                faults.append("'\(grid.id.prefix(60))' \(error.message)")
            }
        }
        if let best = found.max(by: { $0.grid.zooms.depth < $1.grid.zooms.depth }) { return best }
        // Only whether there is a grid counts here, not why not.
        let usable = Set(grids.filter { (try? WMTSGrid($0, limits: [])) != nil }.map(\.id))
        let others = layers.filter { $0.links.contains { usable.contains($0.grid) } }.map(\.id)
        let hint = others.isEmpty ? "No layer has one." : "Layers with one: \(Self.list(others))."
        throw TilesetsError(
            .badService,
            "Layer '\(layer.id.prefix(80))' has no grid of Web Mercator, which packages are made of: "
                + "\(faults.isEmpty ? "it names none" : faults.prefix(8).joined(separator: "; ")). \(hint)")
    }

    private func format(of layer: Layer, _ wanted: TileFormat?) throws(TilesetsError) -> (word: String, TileFormat) {
        let words = layer.formats.isEmpty ? layer.resources.map(\.format) : layer.formats
        let known = words.compactMap { word in TileFormat(word: word).map { (word: word, format: $0) } }
        if let found = known.first(where: { wanted == nil || $0.format == wanted }) { return found }
        throw TilesetsError(
            .badService,
            "Layer '\(layer.id.prefix(80))' has no tiles in \(wanted?.rawValue ?? "a format that is known (\(TileFormat.knownWords))"); it has \(Self.list(words))."
        )
    }

    private func template(
        _ layer: Layer, style: String, grid: (id: String, zoom: String), format: String, address: String
    ) -> String {
        if let resource = layer.resources.first(where: { $0.format == format && SourceRow.isWeb($0.template[...]) }) {
            var values = [
                "layer": layer.id, "style": style, "tilematrixset": grid.id,
            ].mapValues(ServiceTemplate.escaped)
            for dimension in layer.dimensions {
                values[dimension.id.lowercased()] = ServiceTemplate.escaped(dimension.value)
            }
            (values["tilematrix"], values["tilerow"], values["tilecol"]) = (grid.zoom, "{y}", "{x}")
            return ServiceTemplate.filled(resource.template, values)
        }
        let named = addresses.first { $0.encodings.isEmpty || $0.encodings.contains("KVP") }?.url
        let base = named.flatMap { SourceRow.isWeb($0[...]) ? $0 : nil } ?? address
        var query = QueryText(base)
        query.add(QueryText(address), except: ["service", "request", "version", "acceptversions"])
        for (name, value) in [
            ("service", "WMTS"), ("request", "GetTile"), ("version", "1.0.0"),
            ("layer", ServiceTemplate.escaped(layer.id)), ("style", ServiceTemplate.escaped(style)),
            ("format", ServiceTemplate.escaped(format)), ("tilematrixset", ServiceTemplate.escaped(grid.id)),
            ("tilematrix", grid.zoom), ("tilerow", "{y}"), ("tilecol", "{x}"),
        ] { query.set(name, value) }
        for dimension in layer.dimensions where !dimension.value.isEmpty {
            query.set(dimension.id.lowercased(), ServiceTemplate.escaped(dimension.value))
        }
        return query.text
    }

    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(12).map { "'\($0.prefix(60))'" }.joined(separator: ", ")
        return names.count > 12 ? "\(shown) and \(names.count - 12) others" : names.isEmpty ? "none" : shown
    }
}

extension ZoomRange {
    /// How many zooms lie above the deepest one.
    fileprivate var depth: Int { max - min }
}
