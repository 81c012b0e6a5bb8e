internal import CommandSupport
import Errors
import Foundation
import Regions
import Scheduling
internal import TextFormats
import Tiles

/// Masks and batches, measured against fixed limits.
enum PlanningRows {
    private static let zoom = 14

    /// Masks of all countries and of the largest one, with newly decoded boundaries.
    ///
    /// - Parameter isSmall: Whether to measure only a few countries in one round.
    static func masks(rounds: Int, isSmall: Bool) throws -> [PieceRow] {
        func row(_ name: String, limit: Double, _ choose: (RegionTree) -> [String]) throws -> PieceRow {
            var times: [Double] = []
            var tiles: UInt64 = 0
            var count = 0
            for _ in 0..<(isSmall ? 1 : rounds) {
                // A new tree each time, because it caches decoded boundaries.
                let tree = try RegionTree.embedded()
                let ids = choose(tree)
                count = ids.count
                times.append(
                    Stopwatch.time {
                        tiles = ids.reduce(0) { $0 + tree.mask(of: $1, maxZoom: zoom).count(atZoom: zoom) }
                    }.cpu)
            }
            return PieceRow(
                piece: name, unit: "s", value: Stopwatch.median(times), limit: limit,
                note: "at zoom \(zoom): \(Units.count(count, of: "mask")), \(Units.count(tiles)) tiles")
        }
        return [
            try row("masks of all countries", limit: 2) { tree in
                let all = tree.regions.filter { $0.kind == .country }.map(\.id)
                return isSmall ? Array(all.prefix(5)) : all
            },
            try row("mask of Russia", limit: 0.5) { _ in ["RU"] },
        ]
    }

    /// The result of a process that only divided the planet into batches.
    struct Count: Codable {
        let batches: Int
        let tiles: UInt64
        /// Processor time, including the time for the mask.
        let seconds: Double
        /// The process's largest resident memory in bytes.
        let peak: UInt64
    }

    /// Divides the planet including the sea, or the land area of all countries, and counts the batches one by one.
    static func count(onlyGround: Bool) throws -> Count {
        var batches = 0
        var tiles: UInt64 = 0
        let time = try Stopwatch.time {
            let mask =
                try onlyGround
                ? ground(try RegionTree.embedded()) : RegionTree.embedded().mask(of: "001", maxZoom: zoom)
            guard let zooms = ZoomRange(min: 0, max: zoom) else { return }
            for batch in BatchPlanner(mask: mask, zooms: zooms).batches() {
                batches += 1
                tiles += batch.tiles
            }
        }
        return Count(
            batches: batches, tiles: tiles, seconds: time.cpu,
            peak: ProcessSample(ProcessInfo.processInfo.processIdentifier).peak)
    }

    private static func ground(_ tree: RegionTree) -> TileMask {
        let masks = tree.regions.filter { $0.kind == .country }.map { tree.mask(of: $0.id, maxZoom: zoom) }
        return TileMask(union: masks) ?? TileMask(empty: zoom)
    }

    /// Counts in a separate process, so that its memory can be measured.
    static func batches() throws -> [PieceRow] {
        try [("planet batches", "planet"), ("ground batches", "ground")].map { name, subject in
            let count = try inChild(subject)
            return PieceRow(
                piece: name, unit: "MB peak", value: Double(count.peak) / 1e6, limit: 200,
                note:
                    "in \(Units.decimal(count.seconds, places: 2)) s: \(Units.count(UInt64(count.batches))) batches of "
                    + "\(Units.count(count.tiles)) tiles")
        }
    }

    private static func inChild(_ subject: String) throws -> Count {
        let process = Process()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["pieces", "--count", subject]
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        // The error below says that the peer's answer cannot be used.
        guard process.terminationStatus == 0, let count = try? JSONDecoder().decode(Count.self, from: output) else {
            throw CLIError(
                .software, "'packhorse bench-pieces --count \(subject)' ended with \(process.terminationStatus)")
        }
        return count
    }
}
