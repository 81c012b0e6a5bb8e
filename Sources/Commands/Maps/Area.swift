import Packages
import Regions
import Tiles

/// One area to make a package of: what the user named, as a shape with an id and names.
struct Area: Sendable {
    enum Kind: String, Sendable {
        case region, bbox, geojson, points
    }

    let kind: Kind
    /// Safe as a file name and in a URL.
    let id: String
    /// What a person would call it; shown by `packhorse jobs`.
    let label: String
    /// Language code -> localized path.
    let names: [String: String]
    let bounds: BoundingBox
    /// The exact mask down to a zoom.
    let mask: @Sendable (Int) -> TileMask
    /// The formats of its package; `nil` = the job's.
    var formats: [PackageFormat]?
    /// Its region and those above it that were imported; none when the embedded tree has them all.
    var nodes: [Region] = []
}

extension Area {
    /// The same area under another id or other names; `nil` keeps what is there.
    func renamed(_ id: String? = nil, names: [String: String]? = nil) -> Area {
        // Under another id it is no package of its region any more.
        Area(
            kind: kind, id: id ?? self.id, label: label, names: names ?? self.names, bounds: bounds, mask: mask,
            formats: formats, nodes: id.map { $0 == self.id } ?? true ? nodes : [])
    }

    /// A name as a package id: other characters than letters, digits, `-`, `_` and `.` become `_`.
    ///
    /// A name that had to be changed gets a short hash of itself, so that two names never share an id by accident.
    static func fileSafe(_ text: String) -> String {
        let safe = String(
            text.unicodeScalars.map { scalar -> Character in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": Character(scalar)
                default: "_"
                }
            }.prefix(100))
        guard safe != text || safe.isEmpty || safe.hasPrefix(".") else { return safe }
        // FNV-1a, 32 bits: short and the same everywhere.
        let hash = text.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return "_\(safe)-\(String(hash, radix: 16))"
    }
}
