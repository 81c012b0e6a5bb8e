import Errors
internal import TextFormats
import TileBodies
import Tiles

/// The JSON description of a MapServer, ImageServer or VectorTileServer of ArcGIS.
///
/// Source: ArcGIS REST API, "Map Service", "Image Service" and "Vector Tile Service".
package enum ArcGISService {
    /// The address of the JSON description of a service.
    package static func address(_ named: String) -> String {
        var query = QueryText(named)
        query.set("f", "json")
        return query.text
    }

    /// The tile address of a service and what is known about its tiles.
    ///
    /// - Parameter address: The address of the service, without parameters.
    /// - Throws: ``TilesetsError`` `.badService` with the reason, for an answer that is no description, a service that keeps no tiles,
    ///   and a grid that is not Web Mercator.
    package static func metadata(json: [UInt8], address: String) throws(TilesetsError) -> SourceMetadata {
        if let message = ServiceMessage(in: json) {
            throw TilesetsError(.badService, "The ArcGIS service says: \(message.text).")
        }
        guard case .object(let members)? = JSONValue(json: json) else {
            throw TilesetsError(
                .badService, "The address '\(shown(address))' answers no JSON description of an ArcGIS service.")
        }
        guard case .object(let info)? = members["tileInfo"] else {
            throw TilesetsError(
                .badService,
                "The ArcGIS service '\(shown(address))' keeps no tiles. Let it draw them: "
                    + "url: \(shown(address))/export?bbox={bbox-epsg-3857}&bboxSR=3857&imageSR=3857&size={width},{height}&format=png&transparent=true&f=image"
            )
        }
        let grid = try Grid(info)
        var metadata = SourceMetadata()
        let query = QueryText(address)
        let base = shown(address)
        if case .array(let tiles)? = members["tiles"], case .string(let path)? = tiles.first {
            metadata.templates = ["\(base)/\(path)"]
            metadata.format = .mvt
        } else {
            var template = QueryText("\(base)/tile/{z}/{y}/{x}?blankTile=false")
            template.add(query, except: ["f"])
            metadata.templates = [template.text]
            metadata.format = grid.format
            metadata.mixesPictures = grid.word.uppercased() == "MIXED"
        }
        metadata.templates = metadata.templates.map { $0.replacing("{z}", with: grid.zoomText) }
        metadata.zooms = grid.zooms
        metadata.tileSize = metadata.format == .mvt ? nil : grid.tileSize
        metadata.bounds = bounds(members["fullExtent"])
        metadata.name = text(members, "mapName", "name")
        metadata.attribution = text(members, "copyrightText")
        metadata.description = text(members, "serviceDescription", "description")
        return metadata
    }

    /// The address without parameters and without the last slash.
    private static func shown(_ address: String) -> String {
        let path = SourceRow.path(ofURL: address)
        return path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    private static func text(_ members: [String: JSONValue], _ names: String...) -> String? {
        names.lazy.compactMap { SourceMetadata.text(members[$0]) }.first
    }

    /// The extent in degrees, where it is in Web Mercator or in degrees.
    private static func bounds(_ value: JSONValue?) -> BoundingBox? {
        guard case .object(let extent)? = value else { return nil }
        let sides = ["xmin", "ymin", "xmax", "ymax"].compactMap { number(extent[$0]) }
        guard sides.count == 4, let code = Grid.code(extent["spatialReference"]) else { return nil }
        if code == 4326 { return SourceMetadata.bounds(sides) }
        guard WebMercator.isCode(code) else { return nil }
        return SourceMetadata.bounds([
            WebMercator.longitude(sides[0]), WebMercator.latitude(sides[1]), WebMercator.longitude(sides[2]),
            WebMercator.latitude(sides[3]),
        ])
    }

    static func number(_ value: JSONValue?) -> Double? {
        guard case .number(let number)? = value, number.isFinite else { return nil }
        return number
    }
}

extension ArcGISService {
    /// `tileInfo` of a service.
    struct Grid {
        let zooms: ZoomRange
        let tileSize: Int
        /// What `{z}` is in its addresses: its levels may be numbered otherwise.
        let zoomText: String
        /// The word of its format.
        let word: String
        let format: TileFormat?

        init(_ info: [String: JSONValue]) throws(TilesetsError) {
            func refused(_ why: String) -> TilesetsError {
                TilesetsError(.badService, "The tiles of the ArcGIS service are not those of Web Mercator: \(why).")
            }
            guard let code = Self.code(info["spatialReference"]), WebMercator.isCode(code) else {
                throw refused(
                    "their reference system is \(Self.code(info["spatialReference"]).map(Self.number) ?? "not named")")
            }
            guard let rows = ArcGISService.number(info["rows"]), rows == ArcGISService.number(info["cols"]),
                rows == 256 || rows == 512
            else { throw refused("they are not squares of 256 or 512 pixels") }
            guard case .object(let origin)? = info["origin"], let x = ArcGISService.number(origin["x"]),
                let y = ArcGISService.number(origin["y"]), WebMercator.isCorner(x, y)
            else { throw refused("they do not begin in the corner of the world") }
            guard case .array(let levels)? = info["lods"] else { throw refused("no levels are listed") }
            var matrices: [WMTSCapabilities.Matrix] = []
            for level in levels.prefix(64) {
                guard case .object(let level) = level, let number = ArcGISService.number(level["level"]),
                    let resolution = ArcGISService.number(level["resolution"]), let whole = Int(exactly: number)
                else { continue }
                matrices.append(
                    .init(
                        id: "\(whole)", scale: resolution / 0.000_28, corner: [x, y], width: Int(rows),
                        height: Int(rows)))
            }
            let grid: WMTSGrid
            do throws(TilesetsError) {
                grid = try WMTSGrid(.init(id: "", system: "EPSG:3857", matrices: matrices), limits: [])
            } catch {
                throw refused("the list of levels \(error.message)")
            }
            (zooms, tileSize, zoomText) = (grid.zooms, grid.tileSize, grid.zoomText)
            word = SourceMetadata.text(info["format"]) ?? ""
            format = word.uppercased() == "MIXED" ? .jpeg : TileFormat(word: word)
        }

        private static func number(_ code: Double) -> String { Int(exactly: code).map(String.init) ?? "\(code)" }

        /// The number of a reference system: the latest one, where several are given.
        static func code(_ value: JSONValue?) -> Double? {
            guard case .object(let system)? = value else { return nil }
            return ArcGISService.number(system["latestWkid"]) ?? ArcGISService.number(system["wkid"])
        }
    }
}
