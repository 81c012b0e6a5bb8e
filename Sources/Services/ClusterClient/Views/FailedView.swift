internal import TextFormats
package import Wire

/// An entry as printed.
package struct FailedView: Encodable, Sendable {
    package let job: UInt64
    package let batch: UInt64
    package let cell: String
    package let zooms: String
    package let tiles: UInt64
    package let cause: String
    package let detail: String
    package let attempts: UInt32
    package let losses: UInt32
    /// Whether the whole batch was given up, not only some of its tiles.
    package let whole: Bool
    package let failures: [JobView.FailureView]

    package init(_ entry: PBFailedBatch) {
        job = entry.job
        batch = entry.batch
        cell = "\(entry.cell.zoom)/\(entry.cell.x)/\(entry.cell.y)"
        zooms = entry.zoomMin == entry.zoomMax ? "\(entry.zoomMin)" : "\(entry.zoomMin)-\(entry.zoomMax)"
        tiles = entry.tiles
        cause = entry.cause
        detail = entry.detail
        attempts = entry.attempts
        losses = entry.losses
        whole = entry.whole
        failures = entry.failures.map(JobView.FailureView.init)
    }

    package var lines: [String] {
        let what = whole ? "all \(Units.count(tiles)) tiles" : Units.count(tiles, of: "tile")
        return [
            "job \(job) batch \(batch): \(what) in and below \(cell), zoom \(zooms)",
            "  \(cause): \(detail)",
            "  \(Units.count(attempts, of: "failed attempt")), \(Units.count(losses, of: "lost lease"))",
        ] + failures.map { "  \($0.tile)  \($0.cause)  \($0.detail)" }
    }
}
