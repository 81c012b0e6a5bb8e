import Errors
import Foundation
import Tiles

/// A region in an import folder: one GeoJSON Feature with sorted keys in `<id>.geojson`.
struct ImportFile {
    static let suffix = "geojson"

    let id: String
    let kind: Region.Kind
    let parentID: String
    let names: [String: String]
    let shape: ImportedShape
    let bounds: BoundingBox
    /// Edges of it that can be read in two ways.
    let longEdges: Geometry.LongEdges?
    private let polygons: Geometry

    /// Takes the polygons of a geometry.
    ///
    /// - Throws: ``RegionsError`` `.badImport` when it has no area.
    init(
        id: String, kind: Region.Kind, parentID: String, names: [String: String], geometry: Geometry
    ) throws(RegionsError) {
        polygons = Geometry(polygons: geometry.polygons)
        let shape = MercatorShape(polygons).polygons
        guard shape.contains(where: { !$0.isEmpty }), let box = polygons.boundingBox else {
            throw RegionsError(.badImport, "\(id) has no area: its geometry must be a Polygon or a MultiPolygon.")
        }
        self.id = id
        self.kind = kind
        self.parentID = parentID
        self.names = names
        self.shape = ImportedShape(polygons: shape)
        bounds = box
        longEdges = polygons.longEdges
    }

    /// Reads a file of an import folder.
    ///
    /// - Throws: ``RegionsError`` `.fileFailed` or `.badImport`.
    static func read(_ url: URL) throws(RegionsError) -> ImportFile {
        let features = try features(of: url)
        guard features.count == 1, let feature = features.first, case let properties = feature.properties,
            let id = properties["id"]?.text, id == url.deletingPathExtension().lastPathComponent,
            let parent = properties["parent"]?.text,
            let kind = properties["kind"]?.text.flatMap(Region.Kind.init(rawValue:)), kind >= .country,
            case .object(let names)? = properties["names"], case let texts = names.compactMapValues(\.text),
            texts.count == names.count
        else {
            throw RegionsError(
                .badImport,
                "'\(url.path)' was not written by 'packhorse regions import'. Remove it and import the region again.")
        }
        return try ImportFile(id: id, kind: kind, parentID: parent, names: texts, geometry: feature.geometry)
    }

    private static func features(of url: URL) throws(RegionsError) -> [AreaFeature] {
        let data: Data
        do { data = try Data(contentsOf: url) } catch {
            throw RegionsError(.fileFailed, "Cannot read '\(url.path)': \(error.localizedDescription)", cause: error)
        }
        do throws(TilesError) { return try AreaFeature.features(geoJSON: [UInt8](data)) } catch {
            throw RegionsError(.badImport, "'\(url.path)' cannot be read as GeoJSON: \(error.message)", cause: error)
        }
    }

    /// The bytes of the file; the same for the same region, whatever it was imported from.
    func encoded() throws(RegionsError) -> Data {
        let rest: [String: Any] = [
            "type": "Feature", "id": id,
            "properties": ["id": id, "kind": kind.rawValue, "parent": parentID, "names": names] as [String: Any],
        ]
        do {
            let text = try JSONSerialization.data(
                withJSONObject: rest, options: [.sortedKeys, .withoutEscapingSlashes])
            return Data(#"{"geometry":\#(polygons.polygonsGeoJSON),"#.utf8) + text.dropFirst()
        } catch {
            throw RegionsError(.badImport, "\(id) cannot be written as GeoJSON: \(error)", cause: error)
        }
    }

    /// Writes the file whole or not at all.
    func write(into folder: URL) throws(RegionsError) {
        let data = try encoded()
        let url = folder.appendingPathComponent("\(id).\(Self.suffix)")
        let temporary = folder.appendingPathComponent(".\(id).\(UUID().uuidString).part")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try data.write(to: temporary)
            let handle = try FileHandle(forWritingTo: temporary)
            try handle.synchronize()
            try handle.close()
            guard rename(temporary.path, url.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            // The import has failed already; a left-over .part file is ignored by every reader.
            do { try FileManager.default.removeItem(at: temporary) } catch {}
            throw RegionsError(.fileFailed, "Cannot write '\(url.path)': \(error.localizedDescription)", cause: error)
        }
    }
}

extension JSONText {
    /// The text of a string.
    var text: String? { if case .string(let text) = self { text } else { nil } }
}
