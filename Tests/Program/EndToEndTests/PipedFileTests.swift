import Foundation
import TestSupport
import Testing

/// `-o -`: one file, whole, on standard output, and nothing else there.
struct PipedFileTests {
    /// Runs a command whose standard output is a file.
    private func run(_ words: String, into file: URL, in scratch: Scratch) async throws -> Program.Outcome {
        try await Program.run(
            URL(filePath: "/bin/sh"),
            ["-c", "cd '\(scratch.folder.path)' && '\(Program.packhorse.path)' \(words) >'\(file.path)'"], in: scratch)
    }

    @Test(.timeLimit(.programs))
    func aBuildAndAConversionSendTheFileThatTheyMake() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let (named, sent) = (scratch.url("named.mbtiles"), scratch.url("sent.mbtiles"))
        let work = "build LI --tileset '\(origin.tileset)' --zoom 0-8"
        #expect(try await run("\(work) -o named.mbtiles", into: scratch.url("list"), in: scratch).status == 0)
        let built = try await run("\(work) -o -", into: sent, in: scratch)
        #expect(built.status == 0, "\(built.errors)")
        #expect(try Data(contentsOf: sent) == Data(contentsOf: named))
        #expect(!FileManager.default.fileExists(atPath: scratch.url(".packhorse-output").path), "nothing stays behind")

        let (file, piped) = (scratch.url("file.pmtiles"), scratch.url("piped.pmtiles"))
        #expect(
            try await run("convert named.mbtiles -o file.pmtiles", into: scratch.url("list"), in: scratch).status == 0)
        let converted = try await run("convert named.mbtiles --format pmtiles -o -", into: piped, in: scratch)
        #expect(converted.status == 0, "\(converted.errors)")
        #expect(converted.errors.contains("standard output: pmtiles"), "\(converted.errors)")
        #expect(try Data(contentsOf: piped) == Data(contentsOf: file))
    }

    @Test(.timeLimit(.programs))
    func theFileStaysWhenItsReaderStops() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let work = "build LI --tileset '\(origin.tileset)' --zoom 0-8"
        _ = try await run("\(work) -o - | head -c 100", into: scratch.url("cut"), in: scratch)
        #expect(FileManager.default.fileExists(atPath: scratch.url(".packhorse-output/LI.mbtiles").path))
        let again = try await run("\(work) -o -", into: scratch.url("whole.mbtiles"), in: scratch)
        #expect(again.status == 0, "\(again.errors)")
        let verdict = try await Program.run(["verify", scratch.url("whole.mbtiles").path], in: scratch)
        #expect(verdict.status == 0, "\(verdict.errors)")
    }

    @Test(
        .timeLimit(.programs),
        arguments: [
            ("build LI LV --tileset T --zoom 0-4 -o -", "one file, but 2 files"),
            ("build LI --tileset T --zoom 0-4 --format mbtiles,pmtiles -o -", "one file, but 2 files"),
            ("build LI --tileset T --zoom 0-4 --format folder -o -", "sends one file"),
            ("build LI --tileset T --zoom 0-4 --json -o -", "both write to standard output"),
            ("convert none.mbtiles -o -", "add one format"),
            ("convert none.mbtiles --format mbtiles,pmtiles -o -", "add one format"),
        ])
    func whatIsNotOneFileIsRefused(words: String, says: String) async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let list = scratch.url("list")
        let refused = try await run(
            words.replacing("--tileset T", with: "--tileset '\(origin.tileset)'"), into: list, in: scratch)
        #expect(refused.status == 64 && refused.errors.contains(says), "\(refused)")
        #expect(try Data(contentsOf: list).isEmpty)
    }
}
