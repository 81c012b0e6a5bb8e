internal import ClusterClient
internal import Errors
internal import Regions
internal import Tiles

/// An area in the body of a request: regions, a box, or a mask.
struct AreaRequest: Codable, Sendable {
    /// Regions by id or name, and towns, which need a margin.
    var regions: [String]?
    /// West, south, east, north in degrees.
    var bbox: [Double]?
    /// CARTO's text, with `:zoom` or without.
    var mask: String?
    /// A distance around regions, towns and boxes: `5km`, or with less from some zooms on `5km,14:500m`.
    var margin: String?
    /// The name of a mask: what its package is called.
    var name: String?

    /// The longest mask that is read, in bytes.
    static let maxMask = 100_000

    /// The areas.
    ///
    /// - Throws: ``Problem`` `wrong-request`.
    func areas(_ tree: () throws(Problem) -> RegionTree) throws(Problem) -> [Area] {
        guard mask == nil || margin == nil else { throw Problem(.wrongRequest, "A mask has no margin.") }
        var found = try named(tree)
        if let margin {
            do throws(TilesError) {
                let margin = try Margin(parsing: margin)
                found = found.map { $0.widened(by: margin) }
            } catch { throw Problem(.wrongRequest, error.message) }
        }
        guard name == nil || mask != nil else { throw Problem(.wrongRequest, "'name' is for a mask.") }
        if let town = found.lazy.flatMap(\.bareTowns).first {
            throw Problem(
                .wrongRequest, "'\(town)' is a town, which is a point on the map; add a 'margin', for example \"20km\"."
            )
        }
        return found
    }

    private func named(_ tree: () throws(Problem) -> RegionTree) throws(Problem) -> [Area] {
        switch (regions, bbox, mask) {
        case (let names?, nil, nil):
            guard 1...500 ~= names.count else { throw Problem(.wrongRequest, "'regions' has 1 to 500 entries.") }
            let tree = try tree()
            return try names.map { (name) throws(Problem) in try Self.place(name, tree) }
        case (nil, let numbers?, nil):
            let box = try Self.box(numbers)
            do throws(ClusterError) { return [try .box(box)] } catch { throw Problem(.wrongRequest, error.message) }
        case (nil, nil, let text?):
            let mask = try Self.mask(text)
            guard let name else {
                return [try Self.area(mask, id: ExtractName.id(of: mask, tileset: ""), label: "mask")]
            }
            guard 1...100 ~= name.utf8.count else { throw Problem(.wrongRequest, "'name' has 1 to 100 bytes.") }
            return [try Self.area(mask, id: Area.fileSafe(name), label: name)]
        default: throw Problem(.wrongRequest, "Give exactly one of 'regions', 'bbox' and 'mask'.")
        }
    }

    /// A region, or else a town, by name.
    private static func place(_ name: String, _ tree: RegionTree) throws(Problem) -> Area {
        do throws(RegionsError) {
            do throws(RegionsError) { return .region(try tree.find(name), in: tree) } catch {
                guard error.code == .unknownRegion, let town = try town(name, tree) else { throw error }
                return town
            }
        } catch { throw Problem(.wrongRequest, error.message) }
    }

    /// The town of a name; `nil` when no town has it.
    ///
    /// - Throws: ``RegionsError`` with the candidates when several towns have the name.
    private static func town(_ name: String, _ tree: RegionTree) throws(RegionsError) -> Area? {
        let towns = try TownList.embedded()
        let found = try towns.named(name, in: tree)
        guard let first = found.first else { return nil }
        guard found.count == 1 else {
            var texts: [String] = []
            for town in found.prefix(12) { texts.append(try towns.text(for: town)) }
            throw RegionsError.severalTowns(name, texts, count: found.count)
        }
        return try .town(first, of: towns, in: tree)
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
