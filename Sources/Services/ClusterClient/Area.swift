internal import Errors
package import Packages
package import Regions
package import Tiles

/// One area for a package: a shape with an id and names.
package struct Area: Sendable {
    /// `region`, `bbox`, or the kind of an ``AreaFormat``.
    package struct Kind: Hashable, Sendable {
        package let rawValue: String
        package static let region = Kind(rawValue: "region")
        package static let bbox = Kind(rawValue: "bbox")

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
    /// The exact mask down to a zoom.
    package let mask: @Sendable (Int) -> TileMask
    /// The formats of its package; `nil` = those of the job.
    package var formats: [PackageFormat]?
    /// Its region and the imported regions above it; empty when the embedded tree has all of them.
    package var nodes: [Region] = []
}

extension Area {
    /// A region, with its names and its exact shape.
    package static func region(_ region: Region, in tree: RegionTree) -> Area {
        Area(
            kind: .region, id: region.id, label: region.name("en"), names: tree.localizedPaths(of: region.id),
            bounds: region.bounds, mask: { tree.mask(of: region.id, maxZoom: $0) },
            nodes: tree.importedLine(of: region))
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
        return shape(
            .bbox, id: fileSafe("bbox_\(box.west)_\(box.south)_\(box.east)_\(box.north)"), label: "bbox(\(box))",
            bounds: box, MercatorShape(box))
    }

    /// The area of a geometry: every tile that it touches.
    ///
    /// - Parameter name: What becomes its id, for example the name of a file.
    package static func shape(
        _ kind: Kind, named name: String, label: String, bounds: BoundingBox, _ geometry: Geometry
    ) -> Area {
        shape(kind, id: fileSafe(name), label: label, bounds: bounds, MercatorShape(geometry))
    }

    private static func shape(
        _ kind: Kind, id: String, label: String, bounds: BoundingBox, _ shape: MercatorShape
    ) -> Area {
        Area(
            kind: kind, id: id, label: label, names: ["en": label], bounds: bounds,
            mask: { TileMask(covering: shape, maxZoom: $0) })
    }

    /// An area that is given as its tiles, expanded or clipped to the zooms of a job; `nil` for an empty mask.
    package static func tiles(_ mask: TileMask, id: String, label: String) -> Area? {
        guard let bounds = mask.bounds else { return nil }
        return Area(
            kind: .bbox, id: id, label: label, names: [:], bounds: bounds,
            mask: { $0 > mask.maxZoom ? mask.expanded(toZoom: $0) : mask.clipped(toZoom: $0) })
    }

    /// The same area with another id or other names; `nil` = unchanged.
    package func renamed(_ id: String? = nil, names: [String: String]? = nil) -> Area {
        // With another id it is no longer a package of its region.
        Area(
            kind: kind, id: id ?? self.id, label: label, names: names ?? self.names, bounds: bounds, mask: mask,
            formats: formats, nodes: id.map { $0 == self.id } ?? true ? nodes : [])
    }

    /// A package id from a name: characters other than letters, digits, `-`, `_` and `.` become `_`.
    ///
    /// A changed name gets a short hash of the original, so that two names never get the same id.
    package static func fileSafe(_ text: String) -> String {
        let safe = String(
            text.unicodeScalars.map { scalar -> Character in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": Character(scalar)
                default: "_"
                }
            }.prefix(100))
        guard safe != text || safe.isEmpty || safe.hasPrefix(".") else { return safe }
        // FNV-1a, 32 bits: short, and the same on every machine.
        let hash = text.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return "_\(safe)-\(String(hash, radix: 16))"
    }
}
