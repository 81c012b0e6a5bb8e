package import AreaFiles
internal import Errors
package import Packages
package import Regions
package import Tiles

/// One area for a package: a shape with an id and names.
package struct Area: Sendable {
    /// `region`, `town`, `bbox`, `set` of several areas, or the kind of an ``AreaFormat``.
    package struct Kind: Hashable, Sendable {
        package let rawValue: String
        package static let region = Kind(rawValue: "region")
        package static let town = Kind(rawValue: "town")
        package static let bbox = Kind(rawValue: "bbox")
        package static let set = Kind(rawValue: "set")

        package init(_ format: AreaFormat) { rawValue = format.kind }
        private init(rawValue: String) { self.rawValue = rawValue }
    }

    package let kind: Kind
    /// Safe as a file name and in a URL.
    package let id: String
    /// The name for people, shown by `packhorse jobs`.
    package let label: String
    /// Language code -> localized path.
    package let names: [String: String]
    package let bounds: BoundingBox
    /// What it is made of.
    package let form: AreaForm
    /// The formats of its package; `nil` = those of the job.
    package var formats: [PackageFormat]?
    /// The largest size of a file of its package in bytes; `nil` = that of the job.
    package var maxFile: UInt64?
    /// Its region and the imported regions above it; empty when the embedded tree has all of them.
    package var nodes: [Region] = []
    /// Labels of towns in it that have no margin: commands refuse these, because a point has only a few tiles.
    package var bareTowns: [String] = []
    /// A name of its own, as a person wrote it: that of its file without the extension; `nil` = it has none beside its id.
    var title: String?

    /// Whether it is what sets leave of an area.
    var isCut: Bool {
        switch form {
        case .intersection, .difference: true
        default: false
        }
    }

    /// The exact mask down to a zoom.
    package func mask(_ maxZoom: Int) -> TileMask { form.mask(maxZoom) }

    /// The exact mask of a package.
    ///
    /// Of a set whose areas share nothing, tiles of shallow zooms may be left, which all of its areas touch. Such a set is empty.
    ///
    /// - Throws: ``ClusterError`` `empty-area` when it has no tile, or a set none of the deepest zoom.
    package func mask(in zooms: ZoomRange) throws(ClusterError) -> TileMask {
        let mask = mask(zooms.max)
        let count = kind == .set ? mask.count(atZoom: zooms.max) : mask.count(in: zooms)
        guard count == 0 else { return mask }
        throw ClusterError(
            .emptyArea,
            isCut
                ? "the set '\(id)' contains no tile of zoom \(zooms): 'and' and 'minus' leave nothing of it"
                : "'\(label)' contains no tile of zoom \(zooms)")
    }
}

extension Area {
    /// A region, with its names and its exact shape.
    package static func region(_ region: Region, in tree: RegionTree) -> Area {
        Area(
            kind: .region, id: region.id, label: region.name("en"), names: tree.localizedPaths(of: region.id),
            bounds: region.bounds,
            form: region.kind == .world ? .world : .shape({ AreaShape(polygons: tree.area(of: region.id)) }, nil),
            nodes: tree.importedLine(of: region))
    }

    /// A town: a point, which needs a margin.
    ///
    /// - Throws: ``RegionsError`` `.badResource`.
    package static func town(
        _ town: Town, of towns: TownList, in tree: RegionTree
    ) throws(RegionsError) -> Area {
        let place = Geometry(points: [Coordinate(longitude: town.longitude, latitude: town.latitude)])
        let shape = AreaShape(place)
        guard let bounds = place.boundingBox else { throw .damagedTown(town) }
        let label = "\(town.name), \(town.regionID)"
        return Area(
            kind: .town, id: fileSafe(try towns.packageID(of: town)), label: label,
            names: tree.localizedPaths(of: town.regionID).mapValues { "\($0)/\(town.name)" }, bounds: bounds,
            form: .shape({ shape }, nil), bareTowns: [label])
    }

    /// A box.
    ///
    /// Equal boxes give equal areas, however they were written: `24.50,59,25,60` and `bbox(24.5, 59, 25, 60)`.
    ///
    /// - Throws: ``ClusterError`` `outside-map` for a box that consists only of the map's northern or southern edge,
    ///   because latitudes are clipped.
    package static func box(_ box: BoundingBox) throws(ClusterError) -> Area {
        guard box.south < BoundingBox.maxLatitude, box.north > -BoundingBox.maxLatitude else {
            throw ClusterError(
                .outsideMap,
                "'bbox(\(box))' \(BoundingBox.liesBeyond)")
        }
        let shape = AreaShape(polygons: MercatorShape(box))
        return Area(
            kind: .bbox, id: fileSafe("bbox_\(box.west)_\(box.south)_\(box.east)_\(box.north)"), label: "bbox(\(box))",
            names: ["en": "bbox(\(box))"], bounds: box, form: .shape({ shape }, nil))
    }

    /// The area of a shape: every tile that it touches.
    ///
    /// - Parameters:
    ///   - title: What becomes its id, for example the name of a file without its extension.
    ///   - name: The name of its package.
    package static func shape(
        _ kind: Kind, titled title: String, name: String, label: String, bounds: BoundingBox, _ shape: AreaShape
    ) -> Area {
        Area(
            kind: kind, id: fileSafe(title), label: label, names: ["en": name], bounds: bounds,
            form: .shape({ shape }, nil), title: title)
    }

    /// An area that is given as its tiles, expanded or clipped to the zooms of a job; `nil` for an empty mask.
    package static func tiles(_ mask: TileMask, id: String, label: String) -> Area? {
        guard let bounds = mask.bounds else { return nil }
        return Area(
            kind: .bbox, id: id, label: label, names: [:], bounds: bounds,
            form: .tiles(mask))
    }

    /// Everything of several areas as one, `nil` without areas; one alone stays what it is.
    package static func merged(_ areas: [Area]) -> Area? {
        guard let first = areas.first else { return nil }
        guard areas.count > 1 else { return first }
        // The last part of a region's path is its own name.
        func name(_ area: Area, _ language: String) -> String {
            let name = area.names[language] ?? area.label
            return area.kind == .region ? name.split(separator: "/").last.map(String.init) ?? name : name
        }
        let languages = Set(areas.flatMap(\.names.keys))
        return Area(
            kind: .set, id: fileSafe(areas.map(\.id).joined(separator: "_")),
            label: areas.map(\.label).joined(separator: ", "),
            names: Dictionary(
                uniqueKeysWithValues: languages.map { language in
                    (language, areas.map { name($0, language) }.joined(separator: ", "))
                }),
            bounds: areas.dropFirst().reduce(first.bounds) { $0.union($1.bounds) }, form: .union(areas.map(\.form)),
            bareTowns: areas.flatMap(\.bareTowns))
    }

    /// What of the area the others touch too, without the tiles that the removed ones cover wholly.
    package func cut(to others: [Area], without removed: [Area]) -> Area {
        guard !others.isEmpty || !removed.isEmpty else { return self }
        var form = form
        if !others.isEmpty { form = .intersection([form] + others.map(\.form)) }
        if !removed.isEmpty { form = .difference(form, .union(removed.map(\.form))) }
        return Area(
            kind: .set, id: id, label: label, names: names, bounds: bounds, form: form, formats: formats,
            bareTowns: bareTowns + (others + removed).flatMap(\.bareTowns), title: title)
    }

    /// The area with a margin around it.
    package func widened(by margin: Margin) -> Area {
        Area(
            kind: kind, id: id, label: label, names: names, bounds: bounds.widened(byMeters: margin.widest),
            form: form.widened(by: margin), formats: formats, nodes: nodes, title: title)
    }

    /// The same area with another id or other names; `nil` = unchanged.
    package func renamed(_ id: String? = nil, names: [String: String]? = nil) -> Area {
        // With another id it is no longer a package of its region, and its files have the id as their name.
        let keepsID = id.map { $0 == self.id } ?? true
        return Area(
            kind: kind, id: id ?? self.id, label: label, names: names ?? self.names, bounds: bounds, form: form,
            formats: formats, nodes: keepsID ? nodes : [], bareTowns: bareTowns, title: keepsID ? title : nil)
    }
}
