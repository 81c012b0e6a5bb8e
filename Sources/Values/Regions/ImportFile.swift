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
    /// The GeoJSON geometry, canonical.
    let geometryJSON: [UInt8]

    /// Checks a geometry and takes its polygons.
    ///
    /// - Throws: ``RegionsError`` `.badImport` when it is not GeoJSON or has no area.
    init(id: String, kind: Region.Kind, parentID: String, names: [String: String], geometry: Any) throws(RegionsError) {
        let json: [UInt8]
        let parsed: Geometry
        do {
            guard JSONSerialization.isValidJSONObject(geometry) else {
                throw RegionsError(.badImport, "The geometry of \(id) is not a GeoJSON object.")
            }
            json = [UInt8](
                try JSONSerialization.data(withJSONObject: geometry, options: [.sortedKeys, .withoutEscapingSlashes]))
            parsed = try Geometry(geoJSON: json)
        } catch let error as RegionsError {
            throw error
        } catch {
            throw RegionsError(.badImport, "The geometry of \(id) cannot be used: \(error)", cause: error)
        }
        let polygons = MercatorShape(parsed).polygons
        guard polygons.contains(where: { !$0.isEmpty }), let box = parsed.boundingBox else {
            throw RegionsError(.badImport, "\(id) has no area: its geometry must be a Polygon or a MultiPolygon.")
        }
        self.id = id
        self.kind = kind
        self.parentID = parentID
        self.names = names
        shape = ImportedShape(polygons: polygons)
        bounds = box
        longEdges = parsed.longEdges
        geometryJSON = json
    }

    /// Reads a file of an import folder.
    ///
    /// - Throws: ``RegionsError`` `.fileFailed` or `.badImport`.
    static func read(_ url: URL) throws(RegionsError) -> ImportFile {
        let root = try JSONDocument.read(url)
        guard let feature = root as? [String: Any], let properties = feature["properties"] as? [String: Any],
            let geometry = feature["geometry"], let id = properties["id"] as? String,
            id == url.deletingPathExtension().lastPathComponent, let parent = properties["parent"] as? String,
            let kind = (properties["kind"] as? String).flatMap(Region.Kind.init(rawValue:)), kind >= .country,
            let names = properties["names"] as? [String: String]
        else {
            throw RegionsError(
                .badImport,
                "'\(url.path)' was not written by 'packhorse regions import'. Remove it and import the region again.")
        }
        return try ImportFile(id: id, kind: kind, parentID: parent, names: names, geometry: geometry)
    }

    /// The bytes of the file; the same for the same region, whatever it was imported from.
    func encoded() throws(RegionsError) -> Data {
        do {
            let feature: [String: Any] = [
                "type": "Feature", "id": id,
                "properties": ["id": id, "kind": kind.rawValue, "parent": parentID, "names": names] as [String: Any],
                "geometry": try JSONSerialization.jsonObject(with: Data(geometryJSON)),
            ]
            return try JSONSerialization.data(withJSONObject: feature, options: [.sortedKeys, .withoutEscapingSlashes])
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

/// A JSON file read whole.
enum JSONDocument {
    /// 512 MiB: twice the largest national boundary file known, and what a laptop can parse in memory.
    static let sizeLimit = 512 << 20

    static func read(_ url: URL) throws(RegionsError) -> Any {
        let data: Data
        do {
            let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0
            guard size <= sizeLimit else {
                throw RegionsError(
                    .badImport, "'\(url.path)' has \(size) bytes; at most \(sizeLimit) are read. Simplify it first.")
            }
            data = try Data(contentsOf: url)
        } catch let error as RegionsError {
            throw error
        } catch {
            throw RegionsError(.fileFailed, "Cannot read '\(url.path)': \(error.localizedDescription)", cause: error)
        }
        do {
            return try JSONSerialization.jsonObject(with: data)
        } catch {
            throw RegionsError(.badImport, "'\(url.path)' is not JSON; expected GeoJSON.", cause: error)
        }
    }
}
