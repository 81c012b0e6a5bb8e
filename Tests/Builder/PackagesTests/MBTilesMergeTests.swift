import Digests
import Errors
import Files
import Foundation
import GRDB
import PackageFiles
import Packages
import Testing
import TileBodies
import Tiles

struct MBTilesMergeTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func code(_ body: () throws -> Void) -> PackagesError.Code? {
        #expect(throws: PackagesError.self) { try body() }?.code
    }

    @Test func theFileIsTheSameHoweverTheTilesAreSpread() throws {
        let world = try World()
        var first: (PackageReceipt, [UInt8])?
        for (count, seed, strip) in [(1, 1, 1_000), (3, 2, 200), (17, 3, 1), (3, 4, 1_000), (1, 5, 37)]
            as [(Int, UInt64, Int)]
        {
            let url = scratch.file("\(seed).mbtiles")
            let receipt = try MBTilesMerge.run(
                try world.spec, shards: try world.shards(count, in: scratch, seed: seed), into: url,
                small: strip < 1_000 ? .never : .usual, stripTiles: strip)
            let content = try bytes(url)
            #expect(receipt.digest == Digest(of: content) && receipt.size == UInt64(content.count))
            if let first {
                #expect(receipt == first.0 && content == first.1, "\(count) shards, seed \(seed)")
            } else {
                first = (receipt, content)
            }
        }
        #expect(first?.0.missing == 0)
        #expect(first?.0.tiles == UInt64(world.samples.count { $0.body != nil }))
        #expect(first?.0.empty == UInt64(world.samples.count { $0.body == nil }))
        #expect(first?.0.distinct == UInt64(Set(world.samples.compactMap(\.body)).count))
    }

    @Test func everyTileIsReadBackThroughTheView() throws {
        let world = try World()
        let url = scratch.file("a.mbtiles")
        let receipt = try MBTilesMerge.run(try world.spec, shards: try world.shards(4, in: scratch, seed: 9), into: url)
        let queue = try DatabaseQueue(path: url.path)
        try queue.read { database in
            for sample in world.samples {
                let found = try Data.fetchOne(
                    database,
                    sql: "SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?",
                    arguments: [sample.tile.zoom, sample.tile.x, sample.tile.tmsY])
                #expect(found.map { [UInt8]($0) } == sample.body, "\(sample.tile)")
            }
            #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM tiles") == Int(receipt.tiles))
            // Numbers are dense and follow the order of first appearance.
            let numbers = try Int.fetchAll(
                database, sql: "SELECT tile_data_id FROM tiles_shallow ORDER BY 1 * zoom_level, tile_column, tile_row")
            var most = 0
            for number in numbers {
                #expect(number <= most + 1)
                most = max(most, number)
            }
            #expect(most == Int(receipt.distinct))
        }
    }

    @Test func pointLookupsSearchAndNothingIsLeftFree() throws {
        let world = try World()
        let url = scratch.file("a.mbtiles")
        _ = try MBTilesMerge.run(try world.spec, shards: try world.shards(2, in: scratch, seed: 9), into: url)
        let queue = try DatabaseQueue(path: url.path)
        try queue.read { database in
            let plan = try Row.fetchAll(
                database,
                sql:
                    "EXPLAIN QUERY PLAN SELECT tile_data FROM tiles WHERE zoom_level = 1 AND tile_column = 1 AND tile_row = 1"
            ).map { $0["detail"] as String }
            #expect(plan.count == 2 && plan.allSatisfy { $0.hasPrefix("SEARCH") }, "\(plan)")
            #expect(try Int.fetchOne(database, sql: "PRAGMA freelist_count") == 0)
            #expect(try String.fetchOne(database, sql: "PRAGMA journal_mode") == "delete")
            #expect(try Int.fetchOne(database, sql: "PRAGMA application_id") == 0x4D50_4258)
            #expect(try Int.fetchOne(database, sql: "PRAGMA page_size") == 4_096)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).filter {
            $0.hasPrefix("a.")
        }
        #expect(names == ["a.mbtiles"])
    }

    @Test func theMetadataIsComplete() throws {
        let world = try World()
        let url = scratch.file("a.mbtiles")
        let receipt = try MBTilesMerge.run(try world.spec, shards: try world.shards(2, in: scratch, seed: 9), into: url)
        let rows = try DatabaseQueue(path: url.path).read { database in
            try Row.fetchAll(database, sql: "SELECT name, value FROM metadata ORDER BY rowid").map {
                [$0[0] as String, $0[1] as String]
            }
        }
        #expect(MBTilesContents.layers(of: url) == ["land"])
        let other = scratch.file("a.pmtiles")
        _ = try PMTilesMerge.run(try world.spec, shards: try world.shards(2, in: scratch, seed: 8), into: other)
        #expect(MBTilesContents.layers(of: other) == ["land"])
        try Data("no archive".utf8).write(to: scratch.file("b"))
        #expect(
            MBTilesContents.layers(of: scratch.file("b")) == nil && MBTilesContents.layers(of: scratch.file("c")) == nil
        )
        // The seal is first, so that its bytes can be found.
        #expect(rows[0][0] == "packhorse_seal" && rows[0][1].utf8.count == 64)
        #expect(
            rows.dropFirst() == [
                ["agg_tiles_hash", receipt.tilesHash], ["attribution", "© Demo"], ["bounds", "-11.25,33.5,22.5,58.75"],
                ["center", "5.625,46.125,3"], ["format", "pbf"],
                ["json", #"{"vector_layers":[{"fields":{"name":"String"},"id":"land"}]}"#], ["maxzoom", "9"],
                ["minzoom", "0"],
                ["name", "Demo"], ["type", "baselayer"], ["version", "1.0"],
            ])
    }

    /// A package whose tileset lists no layers.
    private func silentSpec(_ world: World) throws -> PackageSpec {
        var metadata = try world.spec.metadata
        metadata.vectorLayersJSON = nil
        return PackageSpec(id: "demo", mask: world.mask, zooms: world.zooms, metadata: metadata)
    }

    @Test func layersAreTakenFromTheTilesWhenTheTilesetIsSilent() throws {
        let world = try World()
        let spec = try silentSpec(world)
        let shared = LayerCache()
        var jsons: Set<String> = []
        for (count, seed, memory) in [(1, 1, shared), (5, 2, LayerCache()), (3, 3, shared)]
            as [(Int, UInt64, LayerCache)]
        {
            let url = scratch.file("\(seed).mbtiles")
            _ = try MBTilesMerge.run(
                spec, shards: try world.shards(count, in: scratch, seed: seed), into: url, layers: memory)
            jsons.insert(try json(url) ?? "")
        }
        #expect(jsons == [#"{"vector_layers":[{"fields":{"name":"String"},"id":"land","maxzoom":9,"minzoom":0}]}"#])
    }

    @Test func whatIsRememberedOfABodyIsNotLookedForAgain() throws {
        let world = try World()
        let spec = try silentSpec(world)
        let memory = LayerCache()
        let none = try #require(memory.numbers(of: BodyChecker().summary(of: Gzip.compress([]))))
        for body in world.samples.compactMap(\.body) {
            memory.remember(LayerCache.Key(Digest(of: body).prefix128), none)
        }
        let url = scratch.file("a.mbtiles")
        _ = try MBTilesMerge.run(
            spec, shards: try world.shards(2, in: scratch, seed: 1), into: url, layers: memory)
        #expect(try json(url) == #"{"vector_layers":[]}"#)
    }

    private func json(_ url: URL) throws -> String? {
        try DatabaseQueue(path: url.path).read {
            try String.fetchOne($0, sql: "SELECT value FROM metadata WHERE name = 'json'")
        }
    }

    @Test func onlyTilesOfTheMaskAndZoomsEnter() throws {
        let world = try World()
        let part = try #require(TileID(zoom: 7, x: 70, y: 52))
        let mask = world.mask.restricted(to: part)
        let zooms = try ZoomRange(parsing: "5-8")
        let spec = PackageSpec(id: "part", mask: mask, zooms: zooms, metadata: try world.spec.metadata)
        let url = scratch.file("a.mbtiles")
        let receipt = try MBTilesMerge.run(spec, shards: try world.shards(3, in: scratch, seed: 1), into: url)
        #expect(receipt.tiles + receipt.empty == mask.count(in: zooms))
        let found = try DatabaseQueue(path: url.path).read {
            try Row.fetchAll($0, sql: "SELECT zoom_level, tile_column, tile_row FROM tiles").map {
                TileID(zoom: $0[0], x: $0[1], tmsY: $0[2])
            }
        }
        let expected = world.samples.filter { $0.body != nil && zooms.contains($0.tile.zoom) && mask.contains($0.tile) }
        #expect(Set(found) == Set(expected.map(\.tile)))
    }

    @Test func aTileNobodyMentionsStopsTheMergeUnlessItWasReportedAsFailed() throws {
        let world = try World()
        let lost = world.samples[17].tile
        let shards = try world.shards(2, in: scratch, seed: 1, of: world.samples.filter { $0.tile != lost })
        let error = #expect(throws: PackagesError.self) {
            try MBTilesMerge.run(try world.spec, shards: shards, into: scratch.file("a.mbtiles"))
        }
        #expect(error?.code == .missingTiles && error?.message.contains(lost.description) == true)
        #expect(!FileManager.default.fileExists(atPath: scratch.file("a.mbtiles").path))
        let receipt = try MBTilesMerge.run(
            try world.spec, shards: shards, into: scratch.file("b.mbtiles"), allowedMissing: 1)
        #expect(receipt.missing == 1)
    }

    @Test func shardsThatContradictEachOtherStopTheMerge() throws {
        let world = try World()
        var shards = try world.shards(2, in: scratch, seed: 1)
        let tile = world.samples[5].tile
        // The same answer twice is no contradiction.
        shards += try world.shards(1, in: scratch, seed: 2, of: [world.samples[5]])
        let same = try MBTilesMerge.run(try world.spec, shards: shards, into: scratch.file("a.mbtiles"))
        #expect(same.tiles + same.empty == UInt64(world.samples.count))
        for (seed, body) in [(3, vectorTile("other")), (4, nil)] as [(UInt64, [UInt8]?)] {
            let more = try world.shards(1, in: scratch, seed: seed, of: [Sample(tile: tile, body: body)])
            let found = code {
                _ = try MBTilesMerge.run(try world.spec, shards: shards + more, into: scratch.file("b.mbtiles"))
            }
            #expect(found == .conflictingTiles)
        }
    }

    @Test func aDamagedOrAbsentShardIsNamed() throws {
        let world = try World()
        let shards = try world.shards(3, in: scratch, seed: 1)
        var content = try bytes(shards[1].url)
        content[content.count / 2] ^= 4
        try Data(content).write(to: shards[1].url)
        let target = scratch.file("a.mbtiles")
        func fault(_ small: SmallPackage) throws -> PackagesError? {
            #expect(throws: PackagesError.self) {
                try MBTilesMerge.run(try world.spec, shards: shards, into: target, small: small)
            }
        }
        for small in [SmallPackage.usual, .never] {
            let damaged = try fault(small)
            #expect(damaged?.code == .badShard && damaged?.shard == shards[1].digest)
        }
        try FileManager.default.removeItem(at: shards[1].url)
        for small in [SmallPackage.usual, .never] {
            let absent = try fault(small)
            #expect(absent?.code == .badShard && absent?.shard == shards[1].digest)
        }
        #expect(!FileManager.default.fileExists(atPath: target.path))
    }

    /// Whole and verified, but another: whether tiles go missing or all are there, the name is accepted only after a check
    /// of the footer where it is known, else at the whole file.
    @Test(arguments: [true, false])
    func aShardUnderTheNameOfAnotherIsNamed(knowsFooters: Bool) throws {
        let world = try World()
        let shards = try world.shards(2, in: scratch, seed: 1).map {
            MergeInput(url: $0.url, digest: $0.digest, footerDigest: knowsFooters ? $0.footerDigest : nil)
        }
        let whole = try world.shards(1, in: scratch, seed: 2)
        let target = scratch.file("a.mbtiles")
        _ = try MBTilesMerge.run(try world.spec, shards: shards, into: target)
        try FileManager.default.removeItem(at: target)
        for (place, other) in [(shards[1], shards[0]), (shards[1], whole[0])] {
            try FileManager.default.removeItem(at: place.url)
            try FileManager.default.copyItem(at: other.url, to: place.url)
            let found = #expect(throws: PackagesError.self) {
                try MBTilesMerge.run(try world.spec, shards: shards, into: target)
            }
            #expect(found?.code == .badShard && found?.shard == place.digest)
            #expect(!FileManager.default.fileExists(atPath: target.path))
        }
    }

    @Test func aBodyOfTheWrongKindDoesNotPassTheVerification() throws {
        let world = try World()
        var samples = world.samples
        samples[3] = Sample(tile: samples[3].tile, body: Array("<html>busy</html>".utf8))
        let shards = try world.shards(2, in: scratch, seed: 1, of: samples)
        let found = code { _ = try MBTilesMerge.run(try world.spec, shards: shards, into: scratch.file("a.mbtiles")) }
        #expect(found == .verificationFailed)
        #expect(!FileManager.default.fileExists(atPath: scratch.file("a.mbtiles").path))
    }

    @Test func specsThatContradictThemselvesAreRefusedBeforeAnyWork() throws {
        let world = try World()
        let spec = try world.spec
        let target = scratch.file("a.mbtiles")
        let deep = PackageSpec(
            id: "x", mask: world.mask, zooms: try ZoomRange(parsing: "0-10"), metadata: spec.metadata)
        #expect(code { _ = try MBTilesMerge.run(deep, shards: [], into: target) } == .badSpec)
        for json in ["[", "{}", #"[{"fields":{}}]"#] {
            var metadata = spec.metadata
            metadata.vectorLayersJSON = json
            let bad = PackageSpec(id: "x", mask: world.mask, zooms: world.zooms, metadata: metadata)
            #expect(code { _ = try MBTilesMerge.run(bad, shards: [], into: target) } == .badSpec)
        }
        var metadata = spec.metadata
        metadata.extra = ["name": "again"]
        let twice = PackageSpec(id: "x", mask: world.mask, zooms: world.zooms, metadata: metadata)
        #expect(code { _ = try MBTilesMerge.run(twice, shards: [], into: target) } == .badSpec)
        try Data().write(to: target)
        #expect(code { _ = try MBTilesMerge.run(spec, shards: [], into: target) } == .io)
    }

    @Test func progressCanStopTheMergeAndNothingIsLeft() throws {
        let world = try World()
        let shards = try world.shards(2, in: scratch, seed: 1)
        let target = scratch.file("a.mbtiles")
        for small in [SmallPackage.usual, .never] {
            #expect(throws: CancellationError.self) {
                try MBTilesMerge.run(try world.spec, shards: shards, into: target, small: small) {
                    if $0 > 0 { throw CancellationError() }
                }
            }
        }
        #expect(!FileManager.default.fileExists(atPath: target.path))
    }

    @Test func aPackageWithoutATileIsStillAPackage() throws {
        let mask = TileMask(full: 1)
        let empties = mask.tiles(in: try ZoomRange(parsing: "0-1")).map { Sample(tile: $0, body: nil) }
        let world = try World()
        let spec = PackageSpec(
            id: "void", mask: mask, zooms: try ZoomRange(parsing: "0-1"), metadata: try world.spec.metadata)
        let shards = try world.shards(1, in: scratch, seed: 1, of: empties)
        let receipt = try MBTilesMerge.run(spec, shards: shards, into: scratch.file("a.mbtiles"))
        // MD5 of nothing (RFC 1321).
        #expect(receipt.tiles == 0 && receipt.empty == 5 && receipt.tilesHash == "D41D8CD98F00B204E9800998ECF8427E")
    }
}
