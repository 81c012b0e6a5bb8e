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
}

extension Area {
    /// Characters other than letters, digits, `-`, `_` and `.` become `_`; the result never starts with a point.
    static func fileSafe(_ text: String) -> String {
        let safe = text.unicodeScalars.map { scalar -> Character in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": Character(scalar)
            default: "_"
            }
        }
        let name = String(safe.prefix(100))
        return name.isEmpty || name.hasPrefix(".") ? "_" + name : name
    }
}
