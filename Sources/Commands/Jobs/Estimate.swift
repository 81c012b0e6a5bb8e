import Origins

/// What a job would cost.
struct Estimate: Encodable {
    struct Zoom: Encodable {
        let zoom: Int
        let tiles: UInt64
        var bytes: UInt64?
        var margin: UInt64?
        var sampled: Int?
        var stored: Int?
        var failed: Int?
    }

    private(set) var zooms: [Zoom]
    let tiles: UInt64
    private(set) var bytes: UInt64?
    /// Half the width of the 95 % interval; `nil` when too few tiles answered to tell.
    private(set) var margin: UInt64?
    private(set) var seconds: Double?
    /// Why the sample is worthless, when every tile of it failed.
    private(set) var allFailed: String?

    init(zooms: [(zoom: Int, tiles: UInt64)]) {
        self.zooms = zooms.map { Zoom(zoom: $0.zoom, tiles: $0.tiles) }
        tiles = zooms.reduce(0) { $0 + $1.tiles }
    }

    /// Takes a sample in.
    ///
    /// Time: what one worker reached while sampling, at most its limit, times the workers.
    mutating func add(_ sample: OriginSampler.Sample, workers: Int, limit: Double?) {
        for found in sample.zooms {
            guard let index = zooms.firstIndex(where: { $0.zoom == found.zoom }) else { continue }
            zooms[index].bytes = UInt64(found.totalBytes)
            zooms[index].margin = found.totalMargin.map { UInt64($0) }
            zooms[index].sampled = found.asked
            zooms[index].stored = found.stored
            zooms[index].failed = found.failed
        }
        let asked = sample.zooms.reduce(0) { $0 + $1.asked }
        let failed = sample.zooms.reduce(0) { $0 + $1.failed }
        if asked > 0, failed == asked {
            let causes = sample.zooms.flatMap { $0.causes.keys }
            allFailed = Set(causes).sorted().joined(separator: ", ")
            return
        }
        bytes = UInt64(sample.zooms.reduce(0) { $0 + $1.totalBytes })
        let margins = sample.zooms.compactMap(\.totalMargin)
        if margins.count == sample.zooms.count {
            // Zooms are sampled independently: their variances add.
            margin = UInt64(margins.map { $0 * $0 }.reduce(0, +).squareRoot())
        }
        let rate = min(sample.tilesPerSecond, limit ?? .infinity) * Double(workers)
        seconds = rate > 0 ? Double(tiles) / rate : nil
    }

    /// The table for a person.
    var lines: [String] {
        var table = Table("zoom", "tiles", "size", "margin", "sampled")
        for zoom in zooms {
            table.add(
                "\(zoom.zoom)", Units.count(zoom.tiles), zoom.bytes.map(Units.bytes) ?? "",
                zoom.margin.map { "± \(Units.bytes($0))" } ?? (zoom.sampled == nil ? "" : "unknown"), zoom.outcome)
        }
        var lines = table.lines + ["", "tiles  \(Units.count(tiles))"]
        if let bytes {
            let margin = margin.map { " ± \(Units.bytes($0)) (95 %)" } ?? ", from too few tiles to tell a margin"
            lines.append("size   \(Units.bytes(bytes))\(margin), before equal tiles are stored once")
        }
        if let seconds {
            lines.append("time   \(seconds < 1 ? "" : "about ")\(Units.duration(seconds: seconds))")
        }
        return lines
    }
}

extension Estimate.Zoom {
    /// What became of the sampled tiles.
    fileprivate var outcome: String {
        guard let sampled else { return "" }
        if let failed, failed > 0 { return "\(sampled), \(failed) failed" }
        return stored == 0 ? "\(sampled), all empty" : "\(sampled)"
    }
}
