import Testing
import Tiles

struct TileMaskTests {
    private static let depth = 4

    @Test(arguments: 0..<SeededRandom.rounds(300))
    func aMaskIsTheSetItWasMadeOf(seed: UInt64) throws {
        var random = SeededRandom(seed)
        let set = randomSet(&random, maxZoom: Self.depth)
        let mask = TileMask(tiles: set.shuffled(using: &random), maxZoom: Self.depth)
        for tile in allTiles(Self.depth) { #expect(mask.contains(tile) == set.contains(tile), "\(tile)") }
        #expect(mask.isEmpty == set.isEmpty)
        #expect(mask.count == UInt64(set.count))
        #expect(mask.deepestZoom == set.map(\.zoom).max())
        for zoom in 0...Self.depth {
            #expect(mask.count(atZoom: zoom) == UInt64(set.count { $0.zoom == zoom }))
        }
        #expect(Array(mask.tiles(in: .all)) == set.sorted())
        let cell = try #require(allTiles(Self.depth).randomElement(using: &random))
        for zoom in 0...Self.depth {
            let expected = set.filter { $0.zoom == zoom && cell.contains($0) }.sorted()
            #expect(Array(mask.tiles(atZoom: zoom, under: cell)) == expected)
        }
        #expect(Array(mask.tiles(in: .all, under: cell)) == set.filter { cell.contains($0) }.sorted())
        let restricted = set.contains(cell) ? set.filter { $0.contains(cell) || cell.contains($0) } : []
        #expect(mask.restricted(to: cell) == TileMask(tiles: restricted, maxZoom: Self.depth))
        // Dropping orphans: only what hangs together with the root stays.
        let some = Set(set.filter { _ in Bool.random(using: &random) })
        var kept: Set<TileID> = []
        for tile in some.sorted() where tile.parent.map(kept.contains) ?? true { kept.insert(tile) }
        #expect(tiles(of: TileMask(tiles: some, maxZoom: Self.depth, orphans: .dropped)) == kept)
    }

    @Test(arguments: 0..<SeededRandom.rounds(300))
    func theAlgebraIsThatOfSets(seed: UInt64) throws {
        var random = SeededRandom(seed &+ 10_000)
        let (zoomA, zoomB) = (Int.random(in: 2...4, using: &random), Int.random(in: 2...4, using: &random))
        let (setA, setB) = (randomSet(&random, maxZoom: zoomA), randomSet(&random, maxZoom: zoomB))
        let (maskA, maskB) = (TileMask(tiles: setA, maxZoom: zoomA), TileMask(tiles: setB, maxZoom: zoomB))
        #expect(maskA.union(maskB) == TileMask(tiles: setA.union(setB), maxZoom: max(zoomA, zoomB)))
        #expect(maskA.union(maskB) == maskB.union(maskA))
        #expect(
            maskA.intersection(maskB) == TileMask(tiles: setA.intersection(setB), maxZoom: min(zoomA, zoomB)))
        // Ends are taken out, and a tile with children in the set stays as long as one of them does.
        var left: Set<TileID> = []
        for tile in setA.sorted().reversed() {
            let children = tile.children.filter(setA.contains)
            if children.isEmpty ? !setB.contains(tile) : children.contains(where: left.contains) { left.insert(tile) }
        }
        #expect(maskA.subtracting(maskB) == TileMask(tiles: left, maxZoom: zoomA))
        let clip = Int.random(in: 0...4, using: &random)
        #expect(
            maskA.clipped(toZoom: clip) == TileMask(tiles: setA.filter { $0.zoom <= clip }, maxZoom: min(zoomA, clip)))
        func below(_ tile: TileID) -> [TileID] { tile.zoom < 5 ? [tile] + tile.children.flatMap(below) : [tile] }
        let grown = setA.union(setA.filter { $0.zoom == zoomA }.flatMap(below))
        #expect(maskA.expanded(toZoom: 5) == TileMask(tiles: grown, maxZoom: 5))
        for mask in [maskA, maskB, maskA.union(maskB), maskA.intersection(maskB), maskA.subtracting(maskB)] {
            #expect(try TileMask(decoding: mask.encoded()) == mask)
            #expect(try TileMask(cartoText: mask.cartoWire) == mask)
            #expect(try TileMask(cartoText: mask.cartoURLText + ":\(mask.maxZoom)") == mask)
            #expect(try CartoTree(mask.cartoText).mask(equals: mask))
        }
    }

    @Test func thePlanetIsOneNode() throws {
        let planet = TileMask(full: 14)
        #expect(planet.storageBytes <= 32)
        #expect(planet.count(atZoom: 14) == 268_435_456)
        #expect(planet.count == 357_913_941)
        #expect(planet.encoded().count == 3)
        #expect(TileMask(full: 22).count == 23_456_248_059_221)
        #expect(planet.subtracting(planet) == TileMask(empty: 14))
        // A shallow planet joined with a deep place stays small.
        let place = try TileMask(tiles: [tile("14/9330/4796")], maxZoom: 14)
        let both = TileMask(full: 10).union(place)
        #expect(both.storageBytes < 1_000)
        #expect(both.count == 1_398_101 + 4)
    }

    @Test func boundsAreThoseOfTheEnds() throws {
        #expect(TileMask(empty: 5).bounds == nil)
        #expect(TileMask(full: 5).bounds == BoundingBox.world)
        let cell = try tile("5/17/9")
        #expect(TileMask(tiles: [cell], maxZoom: 7).bounds == cell.bounds)
        #expect(TileMask(tiles: [cell], maxZoom: 5).expanded(toZoom: 14).bounds == cell.bounds)
        let other = try tile("7/80/39")
        #expect(TileMask(tiles: [cell, other], maxZoom: 7).bounds == cell.bounds.union(other.bounds))
    }

    @Test func tenThousandRandomByteStringsDoNotTrap() {
        var random = SeededRandom(7)
        var accepted = 0
        for round in 0..<10_000 {
            var bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if round % 2 == 0, bytes.count > 2 {
                bytes[0] = 1
                bytes[1] %= 24
            }
            if let mask = try? TileMask(decoding: bytes) {
                accepted += 1
                #expect(mask.encoded() == bytes)
                #expect(mask.cartoText.utf8.count < 6_000_000)
            }
            let alphabet = Array("ABCQwx0189+/-_PDz:=".utf8)
            let text = String(
                decoding: bytes.map { round % 3 == 0 ? $0 : alphabet[Int($0) % alphabet.count] }, as: UTF8.self)
            if let tree = try? CartoTree(text), let mask = try? TileMask(cartoText: text) {
                accepted += 1
                #expect((try? CartoTree(tree.text))?.nodes == tree.nodes)
                #expect(mask.count <= TileMask(full: mask.maxZoom).count)
            }
        }
        #expect(accepted > 100)
    }

    @Test func everyTruncationAndEveryFlippedBitIsRefusedOrReadsBack() throws {
        var random = SeededRandom(9)
        for _ in 0..<50 {
            let bytes = TileMask(tiles: randomSet(&random, maxZoom: 4), maxZoom: 4).encoded()
            for length in 0..<bytes.count {
                #expect(throws: TilesError.self) { try TileMask(decoding: Array(bytes[..<length])) }
            }
            #expect(throws: TilesError.self) { try TileMask(decoding: bytes + [0]) }
            for bit in 0..<bytes.count * 8 {
                var changed = bytes
                changed[bit / 8] ^= 1 << UInt8(bit % 8)
                if let mask = try? TileMask(decoding: changed) { #expect(mask.encoded() == changed) }
            }
        }
    }
}

extension CartoTree {
    /// Whether the tree answers for every tile of zoom 0...4 as the mask does.
    fileprivate func mask(equals mask: TileMask) -> Bool {
        // Bare text is of maxZoom 14, so below the mask's own zoom its leaves go on.
        allTiles(min(4, mask.maxZoom)).allSatisfy { covers($0) == mask.contains($0) }
    }
}

extension TileMask {
    fileprivate init(tiles: Set<TileID>, maxZoom: Int, orphans: Orphans = .adopted) {
        self.init(tiles: Array(tiles), maxZoom: maxZoom, orphans: orphans)
    }
}
