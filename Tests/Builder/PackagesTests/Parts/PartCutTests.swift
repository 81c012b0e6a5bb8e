import PackageFiles
import TestSupport
import Testing
import TileBodies
import Tiles

@testable import Packages

/// Parts of random trees of sizes.
struct PartCutTests {
    private typealias Sizes = [Int: [UInt64: UInt64]]

    /// A tree in which each tile has some of its children; sizes differ by a factor of hundred.
    private func tree(_ random: inout SplitMix, depth: Int) -> Sizes {
        var sizes: Sizes = [0: [0: random.next() % 2_000 + 20]]
        for zoom in 1...depth {
            for place in (sizes[zoom - 1] ?? [:]).keys.sorted() {
                for child in 0..<UInt64(4) where random.next() % 4 > 0 {
                    sizes[zoom, default: [:]][place << 2 | child] = random.next() % 2_000 + 20
                }
            }
        }
        return sizes
    }

    /// Shards come in the order of their digests, so either of two tiles with one body can be the first.
    @Test func whichTileStoresABodyDoesNotChangeTheSizes() throws {
        let metadata = PackageMetadata(name: "Parts", format: .mvt, bounds: .world)
        let cell = try #require(TileID(zoom: 5, x: 17, y: 9))
        // Numbers of different widths in a record of SQLite.
        let tiles = try [(120, 4_608), (8_704, 16_000)].map { try #require(TileID(zoom: 14, x: $0, y: $1)) }
        func sizes(storing first: Int) -> Sizes {
            var tally = PartTally([.deduplicated, .normalized, .pmtiles], rows: 1_000, metadata)
            for number in 0..<300 {
                let tile = tiles[number % 2]
                tally.add(tile, at: cell, bytes: 300 + number, isNew: number % 2 == first)
                tally.add(tiles[1 - number % 2], at: cell, bytes: 300 + number, isNew: number % 2 != first)
            }
            return tally.bytes()
        }
        #expect(sizes(storing: 0) == sizes(storing: 1))
    }

    /// What a part has: the tiles that have a place of it below them, and the base.
    private func bytes(of part: PartCut.Part, _ cut: PartCut, _ sizes: Sizes, fixed: UInt64) -> UInt64 {
        let last = part.next.map { $0 - 1 } ?? .max
        var sum = fixed
        for (zoom, tiles) in sizes {
            for (place, bytes) in tiles {
                let shift = UInt64(2 * (cut.grid - zoom))
                let first = place << shift
                if zoom < cut.common || first <= last && first + (1 << shift) - 1 >= part.first { sum += bytes }
            }
        }
        return sum
    }

    @Test func noPartIsLargerThanTheLimitAndThereAreFew() throws {
        var random = SplitMix(state: 35)
        for round in 0..<40 {
            let depth = Int(random.next() % 3) + 5
            let sizes = tree(&random, depth: depth)
            let fixed: UInt64 = 20_000
            let all = sizes.values.flatMap(\.values).reduce(0, +)
            let limit = max(60_000, (all + fixed) / (random.next() % 12 + 1))
            let cut = PartCut(sizes, grid: depth, fixed: fixed, limit: limit)
            #expect(cut.total == all + fixed)
            #expect(cut.base - fixed <= limit / 16, "the low zooms are a small part of each file")
            let parts = try cut.parts(limit: limit)
            var next: UInt64? = 0
            for part in parts {
                #expect(part.first == next)
                #expect(part.bytes <= limit)
                #expect(part.bytes == bytes(of: part, cut, sizes, fixed: fixed), "round \(round)")
                next = part.next
            }
            #expect(next == nil)
            let due = (cut.total - cut.base + limit - cut.base - 1) / (limit - cut.base)
            #expect(
                Double(parts.count) <= 1.5 * Double(due) + 1, "round \(round): \(parts.count) parts, \(due) are due")
        }
    }

    @Test func aThirdOfThePackageGivesFourParts() throws {
        var random = SplitMix(state: 4)
        let sizes = tree(&random, depth: 8)
        let all = sizes.values.flatMap(\.values).reduce(0, +)
        let cut = PartCut(sizes, grid: 8, fixed: 0, limit: all / 3)
        #expect((4...5).contains(try cut.parts(limit: all / 3).count))
    }

    @Test func aPackageThatFitsIsOnePart() throws {
        let cut = PartCut([0: [0: 10], 1: [0: 20, 3: 30]], grid: 1, fixed: 5, limit: 65)
        #expect(cut.total == 65 && cut.common == 0)
        #expect(try cut.parts(limit: 65) == [PartCut.Part(first: 0, next: nil, bytes: 65)])
    }

    @Test func aTileBetweenLowZoomsAndGridIsInEachPartBelowIt() throws {
        // The root is too large for the base; both parts have it.
        let cut = PartCut([0: [0: 10], 1: [0: 20, 3: 30]], grid: 1, fixed: 0, limit: 45)
        #expect(cut.common == 0 && cut.base == 0)
        #expect(
            try cut.parts(limit: 45) == [
                PartCut.Part(first: 0, next: 3, bytes: 30), PartCut.Part(first: 3, next: nil, bytes: 40),
            ])
    }

    @Test func theLimitThatIsNamedIsEnoughForEveryPlace() throws {
        var random = SplitMix(state: 9)
        var tried = 0
        for round in 0..<60 {
            let depth = Int(random.next() % 4) + 2
            let sizes = tree(&random, depth: depth)
            let fixed = random.next() % 30_000
            let limit = fixed + random.next() % 2_000
            let scale = 1 + Double(random.next() % 100) / 200
            let cut = PartCut(sizes, grid: depth, fixed: fixed, limit: limit)
            do { _ = try cut.parts(limit: limit, scale: scale) } catch {
                let words = error.message.split(whereSeparator: { $0 == " " || $0 == "," })
                let place = try #require(words.firstIndex(of: "--max-file"))
                let least = try #require(UInt64(words[place + 1]))
                let again = PartCut(sizes, grid: depth, fixed: fixed, limit: least)
                #expect(throws: Never.self, "round \(round)") { try again.parts(limit: least, scale: scale) }
                tried += 1
            }
        }
        #expect(tried > 20)
    }

    @Test func aPlaceThatDoesNotFitNamesTheLeastLimit() throws {
        let sizes: Sizes = [0: [0: 160], 1: [0: 900, 3: 3_000]]
        let cut = PartCut(sizes, grid: 1, fixed: 100, limit: 2_600)
        let error = #expect(throws: PackagesError.self) { try cut.parts(limit: 2_600) }
        #expect(error?.code == .tooLarge)
        let message = try #require(error?.message)
        #expect(message.contains("1/1/0"), "\(message)")
        let words = message.split(whereSeparator: { $0 == " " || $0 == "," })
        let place = try #require(words.firstIndex(of: "--max-file"))
        let least = try #require(UInt64(words[place + 1]))
        #expect(try PartCut(sizes, grid: 1, fixed: 100, limit: least).parts(limit: least).count == 2)
    }

    @Test func filesThatTurnOutLargerHaveFewerTiles() throws {
        var random = SplitMix(state: 8)
        let sizes = tree(&random, depth: 6)
        let limit: UInt64 = 400_000
        let cut = PartCut(sizes, grid: 6, fixed: 0, limit: limit)
        let (first, scaled) = (try cut.part(from: 0, limit: limit), try cut.part(from: 0, limit: limit, scale: 2))
        #expect(try #require(scaled.next) < (first.next ?? .max))
        #expect(scaled.bytes <= limit)
    }
}
