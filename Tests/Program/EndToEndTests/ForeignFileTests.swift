import Foundation
import TestSupport
import Testing

/// Files of other programs in every command: the same is kept, left out and named (docs/decisions/0077).
@Suite(.serialized, .timeLimit(.programs))
struct ForeignFileTests {
    /// Tiles of zoom 2 and what is around them.
    private func file(_ scratch: Scratch, _ name: String, _ sql: String) async throws -> String {
        let file = scratch.url(name)
        try await SQLiteShell.run(
            file,
            """
            CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB);
            CREATE INDEX places ON tiles (zoom_level, tile_column, tile_row); \(sql)
            """, in: scratch)
        return file.path
    }

    @Test(.enabled(if: SQLiteShell.isThere, "sqlite3 is absent")) func oneRuleHoldsForEveryCommand() async throws {
        let scratch = try Scratch()
        let (red, blue) = (SQLiteShell.red, SQLiteShell.blue)
        // No metadata; a row without a body, one that is no tile, one at zoom 23, and one that is there twice.
        let some = try await file(
            scratch, "some.mbtiles",
            """
            INSERT INTO tiles VALUES (2, 0, 0, \(red)), (2, 1, 0, \(blue)), (2, 1, 0, \(blue)), (2, 3, 3, NULL),
            (2, 9, 9, \(red)), (23, 0, 0, \(red));
            """)
        func packhorse(_ arguments: String..., status: Int32 = 0) async throws -> Program.Outcome {
            let outcome = try await Program.run(arguments, in: scratch)
            #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
            return outcome
        }
        let output = scratch.url("out.mbtiles").path
        let converted = try await packhorse("convert", some, "-o", output)
        #expect(converted.errors.contains("3 tiles cannot be used") && converted.errors.contains("1 row repeats"))
        #expect(
            converted.output.contains("2 tiles") && converted.errors.contains("23/0/(row 0): it is deeper than zoom 22")
        )
        let strict = try await packhorse("convert", some, "-o", scratch.url("x.mbtiles").path, "--strict", status: 65)
        #expect(strict.errors.contains("Without --strict"))
        let verified = try await packhorse("verify", some)
        #expect(verified.errors.contains("cannot be used are passed over: 3"), "\(verified.errors)")
        _ = try await packhorse("verify", some, "--strict", status: 65)
        #expect(try await packhorse("verify", output).errors.isEmpty)
        #expect(try await packhorse("inspect", some).output.contains("png"))
        let store = scratch.url("store").path
        let adopted = try await packhorse("device", "adopt", some, "--store", store)
        #expect(adopted.errors.contains("cannot be used are passed over: 3"), "\(adopted.errors)")
        let built = scratch.url("built.mbtiles").path
        _ = try await packhorse(
            "build", "bbox(-180,-85,180,85)", "--zoom", "2", "--tileset", "mbtiles:\(some)", "-o", built)
        #expect(try await packhorse("verify", built).output.contains("2 tiles"))
        // Different bodies for one tile are refused by all.
        let twice = try await file(
            scratch, "twice.mbtiles", "INSERT INTO tiles VALUES (2, 0, 0, \(red)), (2, 0, 0, \(blue));")
        for command in [["convert", twice, "-o", scratch.url("y.mbtiles").path], ["verify", twice]] {
            let refused = try await Program.run(command, in: scratch)
            #expect(refused.status == 65 && refused.errors.contains("2/0/3"), "\(refused.errors)")
        }
        _ = try await packhorse("device", "adopt", twice, "--store", store, status: 65)
    }

    /// 16 tiles of zoom 2, of which one is a web page, one breaks off, and one has a whole body besides the broken one.
    private func broken(_ scratch: Scratch) async throws -> String {
        try await file(
            scratch, "broken.mbtiles",
            """
            WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 15)
            INSERT INTO tiles SELECT 2, i / 4, i % 4, CASE i WHEN 3 THEN CAST('<html>Not found</html>' AS BLOB)
            WHEN 6 THEN substr(\(SQLiteShell.red), 1, 60) WHEN 9 THEN substr(\(SQLiteShell.red), 1, 60)
            ELSE \(SQLiteShell.red) END FROM n;
            INSERT INTO tiles VALUES (2, 2, 1, \(SQLiteShell.red));
            """)
    }

    private static func build(_ tileset: String, _ output: URL, _ more: String...) -> [String] {
        [
            "build", "bbox(-180,-85,180,85)", "--zoom", "2", "--workers", "1", "--tileset", tileset, "-o", output.path,
            "--progress", "none",
        ] + more
    }

    /// A broken body of an archive does not end a build, as it does not end a conversion; it is counted and named.
    @Test(.enabled(if: SQLiteShell.isThere, "sqlite3 is absent")) func aBuildLeavesBrokenBodiesOut() async throws {
        let scratch = try Scratch()
        let broken = try await broken(scratch)
        let output = scratch.url("built.mbtiles")
        let built = try await Program.run(Self.build("mbtiles:\(broken)", output), in: scratch)
        #expect(built.status == 0, "\(built.errors)")
        for words in ["2 tiles of the archive cannot be used and are left out", "2/0/0: ", "2/1/1: ", "[html-page]"] {
            #expect(built.errors.contains(words), "\(words): \(built.errors)")
        }
        #expect(try await Program.run(["verify", output.path], in: scratch).output.contains("14 tiles"))
        let json = try await Program.run(
            Self.build("mbtiles:\(broken)", scratch.url("json.pmtiles"), "--json"), in: scratch)
        let report = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        let job = try #require((report["jobs"] as? [[String: Any]])?.first)
        #expect(job["failed"] as? Int == 2 && job["stored"] as? Int == 14, "\(job)")
        #expect((job["failures"] as? [[String: Any]])?.allSatisfy { $0["cause"] as? String == "left-out" } == true)
        for strict in [["--strict"], ["--allowed-missing", "0"]] {
            let refused = try await Program.run(
                Self.build("mbtiles:\(broken)", scratch.url("strict.mbtiles")) + strict, in: scratch)
            #expect(
                refused.status == 65 && refused.errors.contains("2 of 16 tiles cannot be used"), "\(refused.errors)")
            #expect(!FileManager.default.fileExists(atPath: scratch.url("strict.mbtiles").path))
        }
        let both = try await Program.run(
            Self.build("mbtiles:\(broken)", output, "--strict", "--allowed-missing", "0.5"), in: scratch)
        #expect(both.status == 64 && both.errors.contains("--strict"), "\(both.errors)")
    }

    /// The same of a PMTiles archive, on this machine and on a web server.
    @Test(.enabled(if: SQLiteShell.isThere, "sqlite3 is absent"))
    func aBuildLeavesBrokenBodiesOfARemoteArchiveOut() async throws {
        let scratch = try Scratch()
        let whole = try await file(
            scratch, "whole.mbtiles",
            "INSERT INTO tiles VALUES (2, 0, 0, \(SQLiteShell.red)), (2, 1, 0, \(SQLiteShell.red)), (2, 2, 0, \(SQLiteShell.blue));"
        )
        let archive = scratch.url("whole.pmtiles")
        #expect(try await Program.run(["convert", whole, "-o", archive.path], in: scratch).status == 0)
        var bytes = try Data(contentsOf: archive)
        // The pixel of the blue picture; its checksum no longer fits.
        let place = try #require(bytes.range(of: Data([0x7C, 0xC2, 0x74, 0xDB])))
        bytes[place.lowerBound] ^= 1
        try bytes.write(to: archive)
        let server = try RangeServer(Array(bytes))
        defer { server.stop() }
        for tileset in ["pmtiles:\(archive.path)", server.url] {
            let output = scratch.url("\(UUID().uuidString).mbtiles")
            let built = try await Program.run(Self.build(tileset, output), in: scratch)
            #expect(built.status == 0 && built.errors.contains("1 tile of the archive cannot be used and is left out"))
            #expect(built.errors.contains("2/2/3: ") && built.errors.contains("[bad-image]"), "\(built.errors)")
            #expect(try await Program.run(["verify", output.path], in: scratch).output.contains("2 tiles"))
            let refused = try await Program.run(
                Self.build(tileset, scratch.url("\(UUID().uuidString).mbtiles"), "--strict"), in: scratch)
            #expect(
                refused.status == 65 && refused.errors.contains("1 of 16 tiles cannot be used"), "\(refused.errors)")
        }
    }

    /// A server may heal, so its broken bodies are failures, and end the job above the allowed share.
    @Test func aBuildFailsForBrokenBodiesOfAServer() async throws {
        let scratch = try Scratch()
        let server = try ScriptedServer { request in
            .reply(
                200, headers: [("Content-Type", "image/png")],
                body: request.path == "/2/1/1" ? Array(SamplePictures.pixel.prefix(40)) : SamplePictures.pixel)
        }
        defer { server.stop() }
        let tileset = scratch.url("t.yaml")
        try Data("id: t\nurl: \(server.url)/{z}/{x}/{y}\nformat: png\nzoom: 2\n".utf8).write(to: tileset)
        let built = try await Program.run(Self.build(tileset.path, scratch.url("s.mbtiles")), in: scratch)
        #expect(built.status == 65 && built.errors.contains("1 of 16 tiles could not be fetched"), "\(built.errors)")
    }

    @Test(.enabled(if: SQLiteShell.isThere, "sqlite3 is absent"))
    func aFormatThatIsNoneIsRefusedOrCorrected() async throws {
        let scratch = try Scratch()
        let pictures = try await file(
            scratch, "png.mbtiles",
            "INSERT INTO tiles VALUES (2, 0, 0, \(SQLiteShell.red)), (2, 1, 0, \(SQLiteShell.blue));")
        let output = scratch.url("out.mbtiles").path
        let refused = try await Program.run(["convert", pictures, "-o", output, "--input-format", "jpg"], in: scratch)
        #expect(refused.status == 65 && refused.errors.contains("says jpg") && refused.errors.contains("are png"))
        let tileset = scratch.url("t.yaml")
        try Data("id: t\nurl: mbtiles:\(pictures)\nformat: jpg\n".utf8).write(to: tileset)
        let built = scratch.url("b.mbtiles")
        let outcome = try await Program.run(Self.build(tileset.path, built), in: scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let shown = try await Program.run(["inspect", built.path], in: scratch)
        #expect(shown.status == 0 && shown.output.contains(", png,"), "\(shown.output) \(shown.errors)")
    }

    /// Every command reads a file without an index; only a device asks for one, with the command.
    @Test(.enabled(if: SQLiteShell.isThere, "sqlite3 is absent")) func aFileWithoutAnIndexIsRead() async throws {
        let scratch = try Scratch()
        let body = SQLiteShell.red
        let bare = try await file(
            scratch, "bare.mbtiles",
            """
            DROP INDEX places; DROP TABLE tiles;
            CREATE TABLE map (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_id TEXT);
            CREATE TABLE images (tile_id TEXT, tile_data BLOB); INSERT INTO images VALUES ('a', \(body));
            WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 15)
            INSERT INTO map SELECT 2, i / 4, i % 4, 'a' FROM n;
            CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM map JOIN images USING (tile_id);
            """)
        let output = scratch.url("built.mbtiles")
        for command in [
            ["verify", bare], ["inspect", bare], ["convert", bare, "-o", scratch.url("out.pmtiles").path],
            Self.build("mbtiles:\(bare)", output),
        ] {
            let outcome = try await Program.run(command, in: scratch)
            #expect(outcome.status == 0, "\(command): \(outcome.errors)")
        }
        #expect(try await Program.run(["verify", output.path], in: scratch).output.contains("16 tiles"))
        let adopt = ["device", "adopt", bare, "--store", scratch.url("store").path]
        let refused = try await Program.run(adopt, in: scratch)
        #expect(refused.status == 65 && refused.errors.contains("make one: sqlite3 '\(bare)' '"), "\(refused.errors)")
        #expect(
            refused.errors.components(separatedBy: bare).count == 3, "named once, and in the command: \(refused.errors)"
        )
        let sql = try #require(refused.errors.components(separatedBy: "make one: sqlite3 '\(bare)' '").last)
        try await SQLiteShell.run(URL(filePath: bare), String(sql.prefix { $0 != "'" }), in: scratch)
        #expect(try await Program.run(adopt, in: scratch).status == 0)
    }

    @Test(.enabled(if: SQLiteShell.isThere, "sqlite3 is absent")) func otherKindsOfFilesAreNamed() async throws {
        let scratch = try Scratch()
        let geoPackage = try await file(scratch, "a.gpkg", "PRAGMA application_id = 0x47504B47;")
        let old = scratch.url("old.pmtiles")
        try Data(Array("PM".utf8) + [2, 0] + [UInt8](repeating: 0, count: 600)).write(to: old)
        for (path, words) in [(geoPackage, "gdal_translate"), (old.path, "pmtiles convert")] {
            for command in ["verify", "inspect"] {
                let outcome = try await Program.run([command, path], in: scratch)
                #expect(outcome.status == 65 && outcome.errors.contains(words), "\(outcome.errors)")
                #expect(!outcome.errors.contains("is damaged"), "\(outcome.errors)")
            }
            let convert = try await Program.run(["convert", path, "-o", scratch.url("z.mbtiles").path], in: scratch)
            #expect(convert.status == 65 && convert.errors.contains(words), "\(convert.errors)")
        }
        #expect(try await Program.run(["inspect", old.path], in: scratch).output.contains("version 2"))
        let draft = scratch.url("draft.pmtiles")
        try Data(Array("PMTiles3".utf8) + [UInt8](repeating: 0, count: 600)).write(to: draft)
        for command in [
            ["verify", draft.path], ["inspect", draft.path],
            ["convert", draft.path, "-o", scratch.url("d.mbtiles").path],
            ["device", "adopt", draft.path, "--store", scratch.url("store").path],
            Self.build("pmtiles:\(draft.path)", scratch.url("d.pmtiles")),
        ] {
            let outcome = try await Program.run(command, in: scratch)
            #expect(
                outcome.status == 65 && outcome.errors.contains("is a draft of PMTiles version 3"), "\(outcome.errors)")
            #expect(outcome.errors.contains("printf '\\3' | dd of='\(draft.path)'"))
            // The byte '3' of the text; the random name of the folder may have these digits.
            #expect(!outcome.errors.replacing(scratch.folder.path, with: "").contains("51"), "\(outcome.errors)")
        }
        let wrong = try await Program.run(
            ["convert", old.path, "-o", scratch.url("z.mbtiles").path, "--input-format", "tiff"], in: scratch)
        #expect(wrong.status == 64 && wrong.errors.contains("pbf, png, jpg, webp, avif, mlt"), "\(wrong.errors)")
    }
}
