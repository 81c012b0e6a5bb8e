import Testing
import TileBodies

struct LayerMemoryTests {
    private func key(_ number: Int) -> LayerCache.Key { LayerCache.Key((UInt64(number), 7)) }

    @Test func aBodyThatIsRememberedHasTheLayersItHad() throws {
        let memory = LayerCache()
        let checker = BodyChecker(layers: memory)
        let tiles = [
            VectorSamples.plain, VectorSamples.tile([VectorSamples.layer(name: "other", keys: ["é"])]),
            VectorSamples.plain,
        ]
        var direct = VectorLayers()
        var remembered = VectorLayers()
        for (zoom, tile) in tiles.enumerated() {
            let body = try checker.check(tile, coding: .identity, declared: .mvt)
            memory.remember(key(zoom), try #require(checker.checkedLayers))
            direct.add(try checker.summary(of: body), zoom: zoom)
            for number in try #require(memory.recall(key(zoom))) { memory.add(number, to: &remembered, zoom: zoom) }
        }
        #expect(remembered == direct)
        #expect(memory.recall(key(0)) == memory.recall(key(2)))
        #expect(memory.recall(key(9)) == nil)
    }

    @Test func aTileWithoutLayersIsRememberedToo() throws {
        let memory = LayerCache()
        let checker = BodyChecker(layers: memory)
        _ = try checker.check(Gzip.compress([]), coding: .gzip, declared: .mvt)
        #expect(checker.checkedLayers == [])
        memory.remember(key(1), [])
        #expect(memory.recall(key(1)) == [])
    }

    @Test func nothingIsLookedForWithoutAMemoryOrInPictures() throws {
        let plain = BodyChecker()
        _ = try plain.check(VectorSamples.plain, coding: .identity, declared: .mvt)
        #expect(plain.checkedLayers == nil)
        let checker = BodyChecker(layers: LayerCache())
        _ = try checker.check(VectorSamples.plain, coding: .identity, declared: .mvt)
        #expect(checker.checkedLayers != nil)
        #expect(throws: TileBodiesError.self) { try checker.check([1, 2], coding: .identity, declared: .mvt) }
        #expect(checker.checkedLayers == nil, "the layers of an earlier tile are not those of a refused one")
    }

    @Test func theOldestAreForgottenAndTheAskedForAreKept() {
        let memory = LayerCache(limit: 10)
        for number in 0..<1_000 {
            memory.remember(key(number), [UInt16(number % 7)])
            // Asked for all the time, as the sea is.
            #expect(memory.recall(key(0)) == [0])
        }
        let held = (0..<1_000).filter { memory.recall(key($0)) != nil }
        #expect(held.contains(999) && held.contains(0) && held.count <= 20)
        #expect(held.allSatisfy { memory.recall(key($0)).map { $0.count == 1 } ?? true })
    }

    @Test func moreTraitsThanThereAreNumbersAreNotNumbered() throws {
        let memory = LayerCache()
        let checker = BodyChecker()
        var last: [LayerCache.Number]? = []
        for number in 0..<70_000 where last != nil {
            let tile = VectorSamples.tile([VectorSamples.layer(name: "layer \(number)", keys: ["a"])])
            last = memory.numbers(of: try checker.summary(of: tile, isChecked: true))
        }
        #expect(last == nil)
    }

    @Test func namesWithoutEndAreNotKept() throws {
        let memory = LayerCache()
        let long = String(repeating: "x", count: 1 << 20)
        let kept = try (0..<10).filter { number in
            let tile = VectorSamples.tile([VectorSamples.layer(name: "\(number)\(long)", keys: ["a"])])
            return memory.numbers(of: try BodyChecker().summary(of: tile, isChecked: true)) != nil
        }
        #expect(kept == [0])
    }
}
