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

    @Test(.enabled(if: SQLiteShell.isThere)) func oneRuleHoldsForEveryCommand() async throws {
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

    @Test(.enabled(if: SQLiteShell.isThere)) func otherKindsOfFilesAreNamed() async throws {
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
        let wrong = try await Program.run(
            ["convert", old.path, "-o", scratch.url("z.mbtiles").path, "--input-format", "tiff"], in: scratch)
        #expect(wrong.status == 64 && wrong.errors.contains("pbf, png, jpg, webp, avif, mlt"), "\(wrong.errors)")
    }
}
