import Digests
import Errors
import Files
import Foundation
import Shards
import TestSupport
import Testing
import Tiles

struct ShardMapTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func find(_ list: [UInt64], in map: ShardMap) -> [Int: ShardBody?] {
        var found: [Int: ShardBody?] = [:]
        map.forEachTile(of: list) { place, body in
            #expect(found.updateValue(body, forKey: place) == nil)
        }
        return found
    }

    /// Lists that begin before, in and after the shard, with tiles that it has and has not, of all densities.
    @Test func tilesOfAListAreFound() throws {
        let url = scratch.file("a")
        let all = try samples(1_000, bodyBytes: 40)
        // Every third tile is missing, so that the tiles are no run.
        let some = all.enumerated().filter { $0.offset % 3 > 0 }.map(\.element)
        try write(some, to: url)
        let reader = try ShardReader(url)
        let map = reader.map
        #expect(map.footerDigest == reader.footerDigest && map.memory > some.count * 12)
        let known = Dictionary(uniqueKeysWithValues: reader.entries.map { ($0.tile.hilbertID, $0.body) })
        let ids = all.map(\.tile.hilbertID).sorted()
        var random = SplitMix(state: 5)
        for share in [1, 2, 10, 300] as [UInt64] {
            for _ in 0..<20 {
                var list = ids.filter { _ in random.next() % share == 0 }
                list += (0..<random.next() % 5).map { _ in random.next() % (2 * ids[ids.count - 1]) }
                list = Array(Set(list)).sorted()
                let expected = list.enumerated().filter { known[$0.element] != nil }
                let found = find(list, in: map)
                #expect(found.count == expected.count)
                for (place, id) in expected { #expect(found[place] == known[id]) }
            }
        }
        #expect(find([], in: map).isEmpty && find([0, 1], in: map).isEmpty && find([.max], in: map).isEmpty)
    }

    @Test func aShardWithoutTilesHasNone() throws {
        let url = scratch.file("a")
        try write([], to: url)
        #expect(try find([0, 1, 5], in: ShardReader(url).map).isEmpty)
    }

    /// Bodies of many groups, side by side and apart, some longer than all that is read with one call.
    @Test(arguments: [300, 70_000, 2_000_000]) func bodiesAreReadAndChecked(bodyBytes: Int) throws {
        let url = scratch.file("a")
        let all = try samples(bodyBytes > 1_000_000 ? 4 : 60, bodyBytes: bodyBytes)
        try write(all, to: url)
        let reader = try ShardReader(url)
        let bodies = ShardBodies(reader)
        var random = SplitMix(state: 2)
        for share in [1, 2, 7] as [UInt64] {
            let wanted = reader.bodies.filter { _ in random.next() % share == 0 }
            var got: [ShardBody] = []
            try bodies.read(wanted) { body, content, range in
                got.append(body)
                #expect(Digest(of: content[range]) == body.digest && range.count == body.length)
            }
            #expect(got == wanted)
        }
        var damaged = try bytes(url)
        damaged[200] ^= 1
        try Data(damaged).write(to: url)
        let file = try ShardBodies(url, reader.map)
        #expect(throws: StorageError.self) { try file.read(reader.bodies) { _, _, _ in } }
    }
}
