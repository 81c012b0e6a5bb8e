package import PackageFiles
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

    package init(
        kind: Kind, id: String, label: String, names: [String: String], bounds: BoundingBox,
        mask: @escaping @Sendable (Int) -> TileMask, formats: [PackageFormat]? = nil, nodes: [Region] = []
    ) {
        self.kind = kind
        self.id = id
        self.label = label
        self.names = names
        self.bounds = bounds
        self.mask = mask
        self.formats = formats
        self.nodes = nodes
    }
}

extension Area {
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
