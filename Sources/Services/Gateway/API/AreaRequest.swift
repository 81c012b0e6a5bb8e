internal import ClusterClient
internal import Errors
internal import Regions
internal import Tiles

/// An area in the body of a request: regions, a box, or a mask.
struct AreaRequest: Codable, Sendable {
    /// Regions by id or name.
    var regions: [String]?
    /// West, south, east, north in degrees.
    var bbox: [Double]?
    /// CARTO's text, with `:zoom` or without.
    var mask: String?

    /// The longest mask that is read, in bytes.
    static let maxMask = 100_000

    /// The areas.
    ///
    /// - Throws: ``Problem`` `wrong-request`.
    func areas(_ tree: () throws(Problem) -> RegionTree) throws(Problem) -> [Area] {
        switch (regions, bbox, mask) {
        case (let names?, nil, nil):
            guard 1...500 ~= names.count else { throw Problem(.wrongRequest, "'regions' has 1 to 500 entries.") }
            let tree = try tree()
            return try names.map { (name) throws(Problem) in
                do throws(RegionsError) { return Self.area(try tree.find(name), in: tree) } catch {
                    throw Problem(.wrongRequest, error.message)
                }
            }
        case (nil, let numbers?, nil):
            let shape = try Self.box(numbers)
            let id = Area.fileSafe("bbox_\(numbers.map { "\($0)" }.joined(separator: "_"))")
            return [
                Area(
                    kind: .bbox, id: id, label: "bbox(\(numbers.map { "\($0)" }.joined(separator: ",")))", names: [:],
                    bounds: shape, mask: { TileMask(covering: MercatorShape(shape), maxZoom: $0) })
            ]
        case (nil, nil, let text?):
            let mask = try Self.mask(text)
            return [try Self.area(mask, id: ExtractName.id(of: mask, tileset: ""), label: "mask")]
        default: throw Problem(.wrongRequest, "Give exactly one of 'regions', 'bbox' and 'mask'.")
        }
    }

    /// The box of four numbers.
    static func box(_ numbers: [Double]) throws(Problem) -> BoundingBox {
        guard numbers.count == 4, numbers.allSatisfy(\.isFinite) else {
            throw Problem(.wrongRequest, "'bbox' has four numbers: west, south, east, north.")
        }
        do { return try BoundingBox(parsing: "bbox(\(numbers.map { "\($0)" }.joined(separator: ",")))") } catch {
            throw Problem(.wrongRequest, error.message)
        }
    }

    static func mask(_ text: String) throws(Problem) -> TileMask {
        guard text.utf8.count <= maxMask else { throw Problem(.wrongRequest, "The mask is longer than \(maxMask).") }
        do {
            let mask = try TileMask(cartoText: text)
            guard !mask.isEmpty else { throw Problem(.wrongRequest, "The mask has no tile.") }
            return mask
        } catch let error as Problem { throw error } catch {
            throw Problem(.wrongRequest, "The mask cannot be read: \(error)")
        }
    }

    private static func area(_ region: Region, in tree: RegionTree) -> Area {
        Area(
            kind: .region, id: region.id, label: region.name("en"), names: tree.localizedPaths(of: region.id),
            bounds: region.bounds, mask: { tree.mask(of: region.id, maxZoom: $0) })
    }

    /// A mask as an area.
    static func area(_ mask: TileMask, id: String, label: String) throws(Problem) -> Area {
        guard let bounds = mask.bounds else { throw Problem(.wrongRequest, "The mask has no tile.") }
        return Area(
            kind: .bbox, id: id, label: label, names: [:], bounds: bounds,
            mask: { zoom in
                zoom > mask.maxZoom ? mask.expanded(toZoom: zoom) : mask.clipped(toZoom: zoom)
            })
    }
}
