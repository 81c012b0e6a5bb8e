import Foundation
import Testing

/// The program that measures works; how fast anything is, is asserted nowhere.
struct BenchPiecesTests {
    private struct Report: Decodable {
        struct Row: Decodable {
            let piece: String
            let unit: String
            let value: Double
            let ratio: Double?
            let threshold: Double
            let met: Bool
            let note: String?
        }
        let tiles: Int
        let distinct: Int
        let bodyBytes: Int
        let rows: [Row]
        let missed: [String]
    }

    @Test(.timeLimit(.programs))
    func everyPieceHasARow() async throws {
        let scratch = try Scratch()
        let outcome = try await Program.run(
            Program.packhorseBench, ["pieces", "--tiles", "40", "--rounds", "1", "--json"],
            environment: ["TMPDIR": scratch.folder.path],
            in: scratch)
        #expect([0, 1].contains(outcome.status), "\(outcome.errors)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let report = try decoder.decode(Report.self, from: Data(outcome.output.utf8))
        #expect(report.tiles == 40)
        // Each third tile repeats the one before it.
        #expect((20...27).contains(report.distinct) && report.bodyBytes > 1_000 * report.distinct)
        #expect(
            report.rows.map(\.piece) == [
                "cover", "mask encode", "mask decode", "mvt check", "shard write", "shard read", "merge",
                "pmtiles export", "frame encode", "frame decode", "publish a package", "publish a version, signed",
                "masks of all countries", "mask of Russia", "planet batches", "ground batches",
            ])
        #expect(report.rows.allSatisfy { $0.value > 0 && $0.value.isFinite && ($0.ratio ?? 1) > 0 })
        for row in report.rows {
            #expect(row.met == (row.ratio.map { $0 >= row.threshold } ?? (row.value <= row.threshold)))
        }
        #expect(report.missed == report.rows.filter { !$0.met }.map(\.piece))
        #expect((outcome.status == 0) == report.missed.isEmpty)
        // Every tile from zoom 0 to 14, a third of 4^15 - 1.
        let planet = try #require(report.rows.first { $0.piece == "planet batches" }?.note)
        #expect(planet.contains("batches of 357,913,941 tiles"), "\(planet)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).allSatisfy {
                !$0.contains("bench")
            })
    }

    @Test(.timeLimit(.programs))
    func nonsenseIsRefused() async throws {
        let scratch = try Scratch()
        let outcome = try await Program.run(Program.packhorseBench, ["pieces", "--tiles", "0"], in: scratch)
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("--tiles must be between 1 and 200000"))
    }
}
