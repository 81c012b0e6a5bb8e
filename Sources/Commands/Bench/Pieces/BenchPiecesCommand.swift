import ArgumentParser
import Foundation
import Regions
import Tiles

/// `packhorse bench-pieces`: the hot pieces, each beside a baseline of the same run; not in the list of commands.
///
/// A rate is of processor time, so that other processes disturb it little; what decides is its ratio to the baseline's. Ends with 1
/// when a threshold is missed. `make bench-pieces` runs it and adds rows of its own.
struct BenchPiecesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench-pieces", abstract: "Measure the hot pieces beside baselines.", shouldDisplay: false)

    enum Subject: String, ExpressibleByArgument, CaseIterable { case planet, ground }

    @Option(help: "Tiles to measure with; fewer than 500 are a trial of the command itself.") var tiles: Int = 4_000
    @Option(help: "Rounds, of which the median counts.") var rounds: Int = 5
    @Flag(help: "Print JSON.") var json = false
    @Option(help: "Only count the batches of the planet, or of its ground, and print them as JSON.") var count: Subject?

    /// Below this many tiles, everything else is small too.
    private static let trial = 500

    func validate() throws {
        guard (1...200_000).contains(tiles) else { throw ValidationError("--tiles must lie between 1 and 200000.") }
        guard (1...99).contains(rounds) else { throw ValidationError("--rounds must lie between 1 and 99.") }
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
        defer { try? FileManager.default.removeItem(at: folder) }  // What is left of it harms nobody.
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
        /// Of the distinct bodies together.
        let bodyBytes: Int
        let rounds: Int
        let rows: [PieceRow]
        let missed: [String]
    }
}
