import CatalogFormat
import Foundation
import Packages
import Testing
import Tiles

/// What regions share, and what two versions share: packs and patches from the command line.
@Suite(.serialized)
struct SharingTests {
    @Test(.timeLimit(.programs))
    func neighboursShareTilePacksAndAPatchMakesOneFromTheOther() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 2, in: scratch)
        let job = try await cluster.build(["EE", "LV", "--zoom", "0-7", "--tile-packs", "--tileset", origin.tileset])
        #expect(job.packages.map(\.id) == ["EE", "LV"])
        try await cluster.stop()

        let packs = try await Program.run(["packs", cluster.catalog.path], in: scratch)
        #expect(packs.status == 0, "\(packs.errors)")
        let lists = try ["EE", "LV"].map { id in
            let file = cluster.catalog.appending(path: TilePackList.path(id))
            return try TilePackList(decoding: Array(Data(contentsOf: file)), named: file.path)
        }
        #expect(lists.allSatisfy { $0.packs.allSatisfy(\.isComplete) })
        let shared = Set(lists[0].packs).intersection(lists[1].packs)
        #expect(shared.contains { $0.index == .root && $0.zooms.max == 5 })
        for pack in lists[0].packs {
            let file = cluster.catalog.appending(path: "regions/\(pack.url)").standardized
            let verified = try await Program.run(["verify", file.path], in: scratch)
            #expect(verified.status == 0, "\(verified.errors)")
        }

        let (old, new) = (
            cluster.catalog.appending(path: "packages/1/EE.mbtiles"),
            cluster.catalog.appending(path: "packages/1/LV.mbtiles")
        )
        let (patch, result) = (scratch.url("patch.mbtiles"), scratch.url("result.mbtiles"))
        let counted = try await Program.run(["diff", old.path, new.path, "--dry-run"], in: scratch)
        #expect(counted.status == 0 && !FileManager.default.fileExists(atPath: patch.path), "\(counted.errors)")
        let made = try await Program.run(["diff", old.path, new.path, "-o", patch.path], in: scratch)
        #expect(made.status == 0 && made.output.contains("% of the package's"), "\(made.errors)")
        let again = try await Program.run(["diff", old.path, new.path, "-o", patch.path], in: scratch)
        #expect(again.status == 73, "\(again.errors)")
        let checked = try await Program.run(["verify", patch.path], in: scratch)
        #expect(checked.status == 0, "\(checked.errors)")
        let applied = try await Program.run(["apply", patch.path, old.path, "-o", result.path], in: scratch)
        #expect(applied.status == 0, "\(applied.errors)")
        #expect(try Data(contentsOf: result) == Data(contentsOf: new))
        let (linked, link) = (scratch.url("linked.mbtiles"), scratch.url("link.mbtiles"))
        try FileManager.default.copyItem(at: old, to: linked)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: linked)
        let through = try await Program.run(["apply", patch.path, link.path, "--in-place"], in: scratch)
        #expect(through.status == 0, "\(through.errors)")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == linked.path)
        #expect(
            try Data(contentsOf: linked) == Data(contentsOf: new), "the package that the link leads to is the new one")
        let wrong = try await Program.run(["apply", patch.path, result.path, "--in-place"], in: scratch)
        #expect(wrong.status == 65 && wrong.errors.contains("Fetch the patch from that version"), "\(wrong.errors)")
        #expect(try Data(contentsOf: result) == Data(contentsOf: new), "a refused patch changes nothing")
        let absent = try await Program.run(["apply", scratch.url("absent").path, old.path, "--in-place"], in: scratch)
        #expect(absent.status == 66)
    }
}
