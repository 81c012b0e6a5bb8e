import ArgumentParser
internal import CommandSupport
import Foundation
import Regions
import Tiles

/// `packhorse-bench pieces`: measures the hot code paths, each with a baseline of the same run.
///
/// A rate is per second of processor time, so that other processes disturb it little. Only its ratio to the baseline's
/// rate is judged. Ends with 1 when a threshold is missed. `make bench-pieces` runs it and adds further rows.
struct PiecesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pieces", abstract: "Measure the hot code paths against baselines.")

    enum Subject: String, ExpressibleByArgument, CaseIterable { case planet, ground }

    @Option(help: "Tiles to measure with; fewer than 500 only test the command itself.") var tiles: Int = 4_000
    @Option(help: "Number of rounds; the median is used.") var rounds: Int = 5
    @Flag(help: "Print JSON.") var json = false
    @Option(help: "Only count the batches of the planet, or of its land area, and print them as JSON.") var count:
        Subject?

    /// With fewer tiles, all other sizes are small too.
    private static let trial = 500

    func validate() throws {
        guard (1...200_000).contains(tiles) else { throw ValidationError("--tiles must be between 1 and 200000.") }
        guard (1...99).contains(rounds) else { throw ValidationError("--rounds must be between 1 and 99.") }
    }

    func run() throws {
        if let count {
            let found = try PlanningRows.count(onlyGround: count == .ground)
            return Console.result(String(decoding: try JSONEncoder().encode(found), as: UTF8.self))
        }
        let tree = try RegionTree.embedded()
        let bodies = try BenchBodies(count: tiles, tree: tree)
        let rows = try measure(bodies, tree)
        let missed = rows.filter { !$0.met }.map(\.piece)
        if json {
            Console.result(
                try JSONText.pretty(
                    Report(
                        tiles: tiles, distinct: bodies.distinct.count, bodyBytes: bodies.bytes, rounds: rounds,
                        rows: rows, missed: missed)))
        } else {
            PieceRow.table(rows).forEach(Console.result)
        }
        guard missed.isEmpty else { throw ExitCode(1) }
    }

    private func measure(_ bodies: BenchBodies, _ tree: RegionTree) throws -> [PieceRow] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "packhorse-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // Remaining files are harmless.
        let isSmall = tiles < Self.trial
        var pieces = MaskPieces(tree: tree, isSmall: isSmall).pieces()
        pieces += try BodyPieces(bodies: bodies, folder: folder).pieces()
        pieces += try WirePieces(count: tiles, mask: tree.mask(of: "DE", maxZoom: 14)).pieces()
        return try pieces.map { try $0.measure(rounds: rounds) }
            + PublishingRows.publications(folder, isSmall: isSmall)
            + PlanningRows.masks(rounds: rounds, isSmall: isSmall) + PlanningRows.batches()
    }

    private struct Report: Encodable {
        let tiles: Int
        let distinct: Int
        /// Sum over the distinct bodies.
        let bodyBytes: Int
        let rounds: Int
        let rows: [PieceRow]
        let missed: [String]
    }
}
