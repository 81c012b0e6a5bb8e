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
                do throws(RegionsError) { return .region(try tree.find(name), in: tree) } catch {
                    throw Problem(.wrongRequest, error.message)
                }
            }
        case (nil, let numbers?, nil):
            let box = try Self.box(numbers)
            do throws(ClusterError) { return [try .box(box)] } catch { throw Problem(.wrongRequest, error.message) }
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
        do throws(TilesError) {
            return try BoundingBox(west: numbers[0], south: numbers[1], east: numbers[2], north: numbers[3])
        } catch {
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

    /// A mask as an area.
    static func area(_ mask: TileMask, id: String, label: String) throws(Problem) -> Area {
        guard let area = Area.tiles(mask, id: id, label: label) else {
            throw Problem(.wrongRequest, "The mask has no tile.")
        }
        return area
    }
}
