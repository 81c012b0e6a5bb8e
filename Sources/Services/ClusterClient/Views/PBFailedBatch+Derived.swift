internal import TextFormats
package import Wire

extension PBFailedBatch {
    /// The zoom range, for example `0-14`, or `5`.
    package var zooms: String { ZoomText.range(zoomMin, zoomMax) }

    /// The entry as text for people.
    package var lines: [String] {
        let what = whole ? "all \(Units.count(tiles)) tiles" : Units.count(tiles, of: "tile")
        return [
            "job \(job) batch \(batch): \(what) in and below \(cell.text), zoom \(zooms)",
            "  \(cause): \(detail)",
            "  \(Units.count(attempts, of: "failed attempt")), \(Units.count(losses, of: "lost lease"))",
        ] + failures.map { "  \($0.tile.text)  \($0.cause)  \($0.detail)" }
    }
}

extension PBTile {
    /// `zoom/x/y`.
    package var text: String { "\(zoom)/\(x)/\(y)" }
}

extension PBEventRecord {
    /// The time in UTC with milliseconds.
    package var time: String { UTCTime.text(milliseconds: wallMs) }
}

enum ZoomText {
    /// `0-14`, or `5` for one zoom.
    static func range(_ min: UInt32, _ max: UInt32) -> String { min == max ? "\(min)" : "\(min)-\(max)" }
}
