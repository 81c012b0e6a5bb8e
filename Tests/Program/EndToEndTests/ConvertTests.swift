import Foundation
import TestSupport
import Testing

/// `packhorse convert`, and `verify` and `inspect` of what it writes.
struct ConvertTests {
    /// A PMTiles file of five tiles, made by hand for the fuzzer.
    private static let source = Checkout.corpus("pmtiles/runs-and-leaf.accepted")

    @Test func theNameOfTheOutputSaysTheFormatAndMayNotContradictIt() async throws {
        let scratch = try Scratch()
        let origin = try SyntheticOrigin(in: scratch)
        defer { origin.stop() }
        let file = scratch.url("EE.mbtiles")
        let built = try await Program.run(
            ["build", "EE", "--zoom", "0-4", "--tileset", origin.tileset, "-o", file.path], in: scratch)
        #expect(built.status == 0, "\(built.errors)")
        let output = scratch.url("EE.pmtiles")
        let named = try await Program.run(["convert", file.path, "-o", output.path], in: scratch)
        #expect(named.status == 0 && named.output.contains("pmtiles"), "\(named.errors)")
        let wrong = try await Program.run(
            ["convert", file.path, "--format", "pmtiles", "-o", scratch.url("x.mbtiles").path], in: scratch)
        #expect(wrong.status == 64 && wrong.errors.contains("is the name of"), "\(wrong.errors)")
        let none = try await Program.run(["convert", file.path, "-o", scratch.url("x.bin").path], in: scratch)
        #expect(none.status == 64 && none.errors.contains("--format"), "\(none.errors)")
    }

    @Test(.timeLimit(.programs))
    func oneFileBecomesEveryFormatAndEachIsVerified() async throws {
        let scratch = try Scratch()
        let folder = scratch.url("exports").path
        let formats = "pmtiles,carto,mbtiles,mbtiles-flat,mbtiles-normalized"
        let plan = try await Program.run(
            ["convert", Self.source.path, "--format", formats, "-o", folder, "--dry-run"], in: scratch)
        #expect(plan.status == 0 && plan.output.split(separator: "\n").count == 5, "\(plan.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder))
        let outcome = try await Program.run(
            ["convert", Self.source.path, "--format", formats, "-o", folder, "--json"], in: scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let names = [".carto.mbtiles", ".flat.mbtiles", ".mbtiles", ".normalized.mbtiles", ".pmtiles"].map {
            "runs-and-leaf" + $0
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == names)
        for name in names {
            let file = scratch.url("exports/\(name)")
            let verified = try await Program.run(["verify", file.path], in: scratch)
            #expect(verified.status == 0 && verified.output.contains("5 tiles"), "\(verified.errors)")
            #expect(verified.output.hasPrefix("package verified: ") && verified.output.contains(", sealed"))
            #expect(try await Program.run(["inspect", file.path], in: scratch).output.contains("seal      sealed"))
            var content = [UInt8](try Data(contentsOf: file))
            content[content.count - 60] ^= 4
            // By content, not by name.
            let damaged = scratch.url("damaged.txt")
            try Data(content).write(to: damaged)
            let found = try await Program.run(["verify", damaged.path], in: scratch)
            #expect(found.status == 65 && found.errors.contains("is damaged"), "\(name): \(found.errors)")
        }
    }

    @Test(.timeLimit(.programs))
    func whatExistsIsNotOverwrittenAndMistakesAreNamed() async throws {
        let scratch = try Scratch()
        let target = scratch.url("out.mbtiles")
        func convert(_ arguments: String...) async throws -> Program.Outcome {
            try await Program.run(["convert", Self.source.path] + arguments, in: scratch)
        }
        #expect(try await convert("--format", "mbtiles", "-o", target.path).status == 0)
        let before = try Data(contentsOf: target)
        let refused = try await convert("--format", "carto", "-o", target.path)
        #expect(refused.status == 73 && refused.errors.contains("--force"), "\(refused.errors)")
        #expect(try Data(contentsOf: target) == before)
        #expect(try await convert("--format", "carto", "-o", target.path, "--force").status == 0)
        let word = try await convert("--format", "rar", "-o", target.path)
        #expect(word.status == 64 && word.errors.contains("pmtiles"), "\(word.errors)")
        #expect(try await convert("--format", "carto,pmtiles", "-o", target.path).status == 64)
        let absent = try await Program.run(
            ["convert", scratch.url("no").path, "--format", "carto", "-o", "x"], in: scratch)
        #expect(absent.status == 66)
        let text = scratch.url("text")
        try Data("hello".utf8).write(to: text)
        let wrong = try await Program.run(
            ["convert", text.path, "--format", "carto", "-o", scratch.url("y").path], in: scratch)
        #expect(wrong.status == 65 && wrong.errors.contains("neither"), "\(wrong.errors)")
        #expect(!FileManager.default.fileExists(atPath: scratch.url("y").path))
    }
}
