internal import CommandSupport
import Digests
import Origins
import Packages
internal import TextFormats
import Tiles

/// The estimated cost of a job.
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

    /// The files of all packages in one format.
    struct File: Encodable {
        let format: String
        let bytes: UInt64
        let margin: UInt64?
    }

    private(set) var zooms: [Zoom]
    /// Different tiles.
    ///
    /// Each is requested once.
    let tiles: UInt64
    /// Bytes of tile bodies to fetch.
    private(set) var bytes: UInt64?
    /// Half the width of the 95 % interval; `nil` when too few tiles were answered to compute it.
    private(set) var margin: UInt64?
    /// Estimated file sizes by format.
    private(set) var files: [File] = []
    /// How many files the packages have in each format, where files have a limit.
    private(set) var parts: Parts?
    private(set) var seconds: Double?
    /// Sampled tiles that failed, by cause.
    private(set) var failures: [String: Int] = [:]
    private(set) var sampled = 0
    /// The requests and bytes of fetching, if the directories of the archive contain them.
    private(set) var transfer: Transfer?
    /// The bodies that most tiles have, as far as the sample shows; `nil` without one.
    private(set) var bodies: [FrequentBody]?

    /// The free space where the files are to go; `nil` when it was not asked for.
    var disk: DiskSpace?

    /// The build that is the newest now, of a source whose address changes with each build.
    var source: PinnedBuild?

    struct Parts: Encodable {
        /// The largest size of a file in bytes.
        let limit: UInt64
        /// Files of all packages in one format.
        let files: Int
        /// Packages that are cut.
        let packages: Int
    }

    struct Transfer: Encodable {
        /// Requests for tiles with one worker.
        let requests: Int
        /// Bytes received for tiles, including the bytes between them.
        let bytes: UInt64
        /// Bytes between tiles, as a share of the bytes of tiles.
        let overfetch: Double
        let directoryRequests: Int
        let directoryBytes: UInt64
    }

    init(zooms: [(zoom: Int, tiles: UInt64)]) {
        self.zooms = zooms.map { Zoom(zoom: $0.zoom, tiles: $0.tiles) }
        tiles = zooms.reduce(0) { $0 + $1.tiles }
    }

    /// Adds a sample.
    ///
    /// Time: the rate of one worker during sampling, limited by the tileset's rate, times the number of workers.
    ///
    /// - Parameters:
    ///   - packages: The masks of the packages. A tile of two packages is in two files.
    ///   - fileLimits: The largest size of a file of each package, 0 = no limit; empty = none has one.
    ///   - metadata: Bytes of texts in each file, such as the list of vector layers.
    mutating func add(
        _ sample: OriginSampler.Sample, packages: [TileMask], formats: [PackageFormat], metadata: Int, workers: Int,
        limit: Double?, fileLimits: [UInt64] = []
    ) {
        var fetch = SampledTotal()
        for found in sample.zooms {
            guard let index = zooms.firstIndex(where: { $0.zoom == found.zoom }) else { continue }
            var one = SampledTotal()
            let received = found.answers.map { Double($0.received) }
            one.add(received, of: found.tiles)
            fetch.add(received, of: found.tiles)
            zooms[index].bytes = UInt64(one.value)
            zooms[index].margin = one.margin.map { UInt64($0) }
            zooms[index].sampled = found.asked
            zooms[index].stored = found.stored
            zooms[index].failed = found.failed
            for (cause, count) in found.causes { failures["\(cause)", default: 0] += count }
            sampled += found.asked
        }
        bodies = sample.bodies.isEmpty ? nil : sample.bodies
        (bytes, margin) = (UInt64(fetch.value), fetch.margin.map { UInt64($0) })
        transfer = sample.transfer.map {
            Transfer(
                requests: $0.requests, bytes: $0.fetched,
                overfetch: $0.needed == 0 ? 0 : Double($0.fetched - $0.needed) / Double($0.needed),
                directoryRequests: $0.directoryRequests, directoryBytes: $0.directoryBytes)
        }
        func forecast(_ packages: [TileMask]) -> PackageForecast {
            PackageForecast(
                sample.zooms.map { zoom in
                    (
                        tiles: packages.reduce(0) { $0 + $1.count(atZoom: zoom.zoom) },
                        sample: zoom.answers.map { PackageForecast.Tile(tile: $0.tile, bytes: $0.bytes, body: $0.body) }
                    )
                }, packages: packages.count, metadata: metadata)
        }
        if let largest = fileLimits.max(), largest > 0 {
            let counts = zip(packages, fileLimits).map { mask, limit in
                limit > 0 ? forecast([mask]).parts(of: formats, mask: mask, limit: limit) : 1
            }
            parts = Parts(limit: largest, files: counts.reduce(0, +), packages: counts.count { $0 > 1 })
        }
        let all = forecast(packages)
        files = formats.compactMap { format in
            all.size(as: format).map {
                File(format: format.rawValue, bytes: UInt64(max(0, $0.value)), margin: $0.margin.map { UInt64($0) })
            }
        }
        let rate = min(sample.tilesPerSecond, limit ?? .infinity) * Double(workers)
        seconds = rate > 0 ? Double(tiles) / rate : nil
    }

    /// The table for people.
    var lines: [String] {
        var table = Table("zoom", "tiles", "fetch", "margin", "sampled")
        for zoom in zooms {
            table.add(
                "\(zoom.zoom)", Units.count(zoom.tiles), zoom.bytes.map(Units.bytes) ?? "",
                zoom.margin.map { "± \(Units.bytes($0))" } ?? (zoom.sampled == nil ? "" : "unknown"), zoom.outcome)
        }
        var lines = table.lines + ["", "tiles  \(Units.count(tiles))"]
        if let bytes { lines.append("fetch  \(Self.text(bytes, margin))") }
        if let transfer {
            let percent = Units.decimal(transfer.overfetch * 100, places: 1)
            lines.append(
                "       \(Units.count(transfer.requests, of: "request")) for \(Units.bytes(transfer.bytes)), \(percent) % of it between tiles;"
                    + " directories: \(Units.count(transfer.directoryRequests, of: "request")), \(Units.bytes(transfer.directoryBytes))"
            )
        }
        for (number, file) in files.enumerated() {
            lines.append("\(number == 0 ? "size " : "     ")  \(Self.text(file.bytes, file.margin)) as \(file.format)")
        }
        if let parts {
            lines.append(
                "files  about \(Units.count(parts.files)) of at most \(Units.bytes(parts.limit)) in each format; \(Units.count(parts.packages, of: "package is", "packages are")) cut into parts"
            )
        }
        if let disk { lines.append("disk   \(Units.bytes(disk.free)) free in '\(disk.folder)'") }
        lines += (bodies ?? []).map(\.line)
        if let seconds {
            lines.append("time   \(seconds < 1 ? "" : "about ")\(Units.duration(seconds: seconds))")
        }
        return lines
    }

    /// The number of failed sampled tiles and their causes; `nil` when none failed.
    var failureText: String? {
        guard !failures.isEmpty else { return nil }
        let causes = failures.sorted { $0.key < $1.key }.map { "\($0.key) (\(Units.count(UInt64($0.value))))" }
        let failed = failures.values.reduce(0, +)
        return
            "\(Units.count(UInt64(failed))) of \(Units.count(sampled, of: "sampled tile")) failed: \(causes.joined(separator: ", "))"
    }

    private static func text(_ bytes: UInt64, _ margin: UInt64?) -> String {
        // No margin is needed when every tile was sampled.
        if margin == 0 { return Units.bytes(bytes) }
        return Units.bytes(bytes)
            + (margin.map { " ± \(Units.bytes($0)) (95 %)" } ?? ", too few tiles for a margin")
    }
}

extension Estimate.Zoom {
    /// The results of the sampled tiles.
    fileprivate var outcome: String {
        guard let sampled else { return "" }
        if let failed, failed > 0 { return "\(sampled), \(failed) failed" }
        return stored == 0 ? "\(sampled), all empty" : "\(sampled)"
    }
}
