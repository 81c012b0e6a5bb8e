public import Tiles

extension RegionTree {
    /// The area of a region, without inner borders.
    ///
    /// One polygon of even-odd rings for the embedded ground (shells clockwise on the screen, holes the other way), and the polygons of
    /// imported boundaries as they came. Island boxes are not part of it. Empty for an unknown id. Costs milliseconds for a country
    /// and about 50 ms for the world; keep the value when it is needed often.
    public func shape(of id: String) -> MercatorShape {
        guard let index = index(of: id) else { return MercatorShape() }
        let ground = ground(of: index)
        // Cannot fail: the tests validate every embedded byte.
        let outline = (try? atlas.outline(ofAll: ground.pieces)) ?? []
        return MercatorShape(polygons: (outline.isEmpty ? [] : [outline]) + ground.imported.flatMap(\.polygons))
    }

    /// The tiles of a region: every tile whose closed square touches its ground or one of its island boxes.
    ///
    /// The world is every tile, sea included: a world map with holes in the ocean is not useful.
    ///
    /// - Parameters:
    ///   - id: The region; an unknown id gives an empty mask.
    ///   - maxZoom: The deepest zoom of the mask, 0...22.
    public func mask(of id: String, maxZoom: Int) -> TileMask {
        if self[id]?.kind == .world { return TileMask(full: maxZoom) }
        return TileMask(covering: area(of: id), maxZoom: maxZoom)
    }

    /// What ``mask(of:maxZoom:)`` covers: the ground of a region and its island boxes; empty for an unknown id.
    package func area(of id: String) -> MercatorShape {
        guard let index = index(of: id) else { return MercatorShape() }
        var area = shape(of: id)
        for box in ground(of: index).boxes { area.formUnion(MercatorShape(box)) }
        return area
    }

    /// The smallest region at a place: a region of a country if there is one, else the country, else `nil`.
    ///
    /// In an area that several countries claim, it is the one with the smaller box. At sea it is the country whose
    /// island box contains the place.
    ///
    /// - Parameters:
    ///   - longitude: Degrees, -180...180.
    ///   - latitude: Degrees; beyond ±85.0511 it counts as the edge of the map.
    public func smallest(longitude: Double, latitude: Double) -> Region? {
        guard longitude.isFinite, latitude.isFinite, abs(longitude) <= 180, abs(latitude) <= 90 else { return nil }
        let point = MercatorPoint(longitude: longitude, latitude: latitude)
        let onGround = nodes.filter { $0.hasOwnGround && isGround(point, of: $0) }
        let found =
            onGround.isEmpty
            ? nodes.filter { $0.boxes.contains { $0.holds(longitude, latitude) } }
            : onGround
        return found.map(\.region).min {
            ($1.kind, $0.bounds.area, $0.id) < ($0.kind, $1.bounds.area, $1.id)
        }
    }

    private func isGround(_ point: MercatorPoint, of node: Node) -> Bool {
        if let imported = node.imported { return imported.contains(point) }
        return node.pieces.contains { index in
            let piece = atlas.pieces[index]
            guard piece.minimum.x <= point.x, point.x <= piece.maximum.x, piece.minimum.y <= point.y,
                point.y <= piece.maximum.y
            else { return false }
            // Cannot fail: see shape(of:).
            return PointInRings.contains(point, (try? atlas.outline(of: index)) ?? [])
        }
    }

    /// The pieces of a node's area: its own, or those of its children.
    private func ground(of index: Int) -> (pieces: [Int], imported: [ImportedShape], boxes: [BoundingBox]) {
        let node = nodes[index]
        if let imported = node.imported { return ([], [imported], []) }
        if !node.pieces.isEmpty { return (node.pieces, [], node.boxes) }
        var out: (pieces: [Int], imported: [ImportedShape], boxes: [BoundingBox]) = ([], [], node.boxes)
        for child in node.children {
            let part = ground(of: child)
            out.pieces += part.pieces
            out.imported += part.imported
            out.boxes += part.boxes
        }
        return out
    }
}

extension BoundingBox {
    /// Width times height in degrees: enough to compare the sizes of boxes.
    var area: Double { width * (north - south) }

    func holds(_ longitude: Double, _ latitude: Double) -> Bool {
        let inColumn =
            crossesAntimeridian ? longitude >= west || longitude <= east : longitude >= west && longitude <= east
        return inColumn && latitude >= south && latitude <= north
    }
}
