import Foundation
import GRDB
import PackageFiles
import Packages
import Shards
import TestSupport
import Testing
import TileBodies
import Tiles

/// A patch is an MBTiles diff file that SQLite alone can apply, and works on other makers' real files.
struct PatchInteropTests {
    /// The SQL that docs/formats/patch.md tells people to run.
    private func sql(_ number: Int) throws -> String {
        let text = try String(
            contentsOf: Checkout.folder.appendingPathComponent("docs/formats/patch.md"), encoding: .utf8)
        let blocks = text.components(separatedBy: "```sql\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        return try #require(blocks.count == 3 ? blocks[number] : nil)
    }

    @Test(arguments: ["dedup-id", "flat", "flat-without-index"])
    func sqliteAloneAppliesIt(dialect: String) throws {
        let fixture = try PatchFixture()
        let new = try fixture.nextVersion()
        let patch = fixture.scratch.file("patch.mbtiles")
        try Patch.make(old: fixture.old, new: new.url, into: patch)
        let copy =
            try dialect == "dedup-id"
            ? fixture.edited(fixture.old, "SELECT 1") : fixture.converted(fixture.old, dialect)
        let queue = try DatabaseQueue(path: copy.path)
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "ATTACH ? AS patch", arguments: [patch.path])
            #expect(try String.fetchAll(database, sql: sql(0)) == ["fits"])
            try database.execute(sql: sql(dialect == "dedup-id" ? 2 : 1))
            #expect(try String.fetchAll(database, sql: sql(0)).isEmpty, "a second time it does not fit")
            try database.execute(sql: "DETACH patch")
        }
        try queue.close()
        let report = try MBTilesVerify.run(copy, mask: fixture.world.mask, zooms: fixture.world.zooms)
        #expect(report.isVerified, "\(report.problems)")
        #expect(report.tilesHash == new.receipt.tilesHash)
        #expect(try fixture.metadata(copy) == fixture.metadata(new.url))
    }

    /// 2012 to 2021: all but one tile changed, and most of them doubled.
    @Test(.enabled(if: RealData.absence == nil, "\(RealData.absence ?? "")"))
    func monacosTwoVersions() throws {
        let old = RealData.file("monaco-2012.mbtiles")
        let new = RealData.file("monaco-2021.mbtiles")
        let scratch = try Scratch()
        let (patch, result) = (scratch.file("patch.mbtiles"), scratch.file("result.mbtiles"))
        let made = try Patch.make(old: old, new: new, into: patch)
        #expect(made.counts.added == 0 && made.counts.changed == 21)
        #expect(made.counts.removed == 1 && made.counts.unchanged == 1)
        let size = try #require(try FileManager.default.attributesOfItem(atPath: new.path)[.size] as? UInt64)
        #expect(made.size < size, "\(made.size) of \(size) bytes")

        let applied = try Patch.apply(patch, to: old, into: result)
        #expect(applied.tilesHash == made.counts.after)
        let wanted = try MBTilesVerify.run(new, mask: nil)
        let found = try MBTilesVerify.run(result, mask: nil)
        #expect(found.tilesHash == wanted.tilesHash && found.tiles == 22)
        // Deltas gain little over nine years, in which nearly everything was drawn again.
        let small = scratch.file("deltas.mbtiles")
        let deltas = try Patch.make(old: old, new: new, into: small, deltas: true)
        #expect(deltas.counts.deltas >= 15 && deltas.size < made.size, "\(deltas)")
        let again = try Patch.apply(small, to: old, into: scratch.file("again.mbtiles"), expecting: applied.digest)
        #expect(again.tilesHash == made.counts.after)
        // Back again: the way is the same in the other direction.
        try Patch.make(old: new, new: old, into: patch, replacing: true)
        try Patch.apply(patch, to: result, into: result, replacing: true)
        #expect(try MBTilesVerify.run(result, mask: nil).tilesHash == made.counts.before)
    }
}
