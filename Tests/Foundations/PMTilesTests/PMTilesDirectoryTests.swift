import PMTiles
import Testing

struct PMTilesDirectoryTests {
    private typealias Entry = PMTilesDirectory.Entry

    @Test func theLargestNumberIsRead() {
        // 2^64 - 1 takes ten bytes; the tenth may only be 1.
        let largest = [UInt8](repeating: 0xFF, count: 9) + [0x01]
        #expect(varint(.max) == largest)
        let decoded = PMTilesDirectory([1] + largest + [0, 1, 1])
        #expect(decoded?.entries == [Entry(tile: .max, run: 0, length: 1, offset: 0)])
    }

    @Test(arguments: [
        [UInt8](repeating: 0xFF, count: 9) + [0x02],  // 2^64 and more
        [UInt8](repeating: 0x80, count: 10) + [0x00],  // eleven bytes
        [UInt8](repeating: 0xFF, count: 40),  // no end
    ])
    func aNumberBeyond64BitsIsRefused(number: [UInt8]) {
        #expect(PMTilesDirectory([1] + number + [0, 1, 1]) == nil)
        #expect(PMTilesDirectory(number) == nil)
    }

    @Test func aNumberWithSuperfluousBytesIsRead() {
        #expect(PMTilesDirectory([1, 0x85, 0x80, 0, 1, 1, 1])?.entries.first?.tile == 5)
    }

    @Test func aDirectoryWithoutEntriesIsRead() {
        #expect(PMTilesDirectory([0])?.entries == [])
        #expect(PMTilesDirectory([0])?.entry(for: 0) == nil)
        #expect(PMTilesDirectory([]) == nil, "no count")
    }

    @Test(arguments: [UInt64(2), 3, 1 << 20, 1 << 40, 1 << 63, .max])
    func moreEntriesThanBytesAreRefusedBeforeMemoryIsTaken(count: UInt64) {
        #expect(PMTilesDirectory(varint(count) + [0, 1, 1, 1]) == nil)
    }

    @Test(arguments: [
        ("a length of 0", directory(tiles: [0, 1], runs: [1, 1], lengths: [5, 0], offsets: [1, 0])),
        ("the same tile twice", directory(tiles: [4, 0], runs: [1, 1], lengths: [5, 5], offsets: [1, 0])),
        ("a first offset after nothing", directory(tiles: [4], runs: [1], lengths: [5], offsets: [0])),
        ("a tile beyond 2^64", directory(tiles: [.max, 1], runs: [1, 1], lengths: [5, 5], offsets: [1, 0])),
        ("a run beyond 2^64", directory(tiles: [.max], runs: [1], lengths: [5], offsets: [1])),
        ("a body beyond 2^64", directory(tiles: [0], runs: [1], lengths: [.max], offsets: [3])),
        (
            "a body after one that ends at 2^64 - 1",
            directory(tiles: [0, 1], runs: [1, 1], lengths: [.max, 1], offsets: [1, 0])
        ),
    ])
    func aDirectoryThatBreaksARuleIsRefused(rule: String, bytes: [UInt8]) {
        #expect(PMTilesDirectory(bytes) == nil, "\(rule)")
    }

    @Test func theLargestValuesOfEachRuleAreRead() {
        #expect(PMTilesDirectory(directory(tiles: [.max - 1], runs: [1], lengths: [5], offsets: [1])) != nil)
        #expect(PMTilesDirectory(directory(tiles: [0], runs: [1], lengths: [.max], offsets: [1])) != nil)
        let last = directory(tiles: [0, 1], runs: [1, 1], lengths: [.max - 1, 1], offsets: [1, 0])
        #expect(PMTilesDirectory(last)?.entries.last?.offset == UInt64.max - 1)
    }

    @Test func aTruncatedDirectoryIsRefused() {
        let whole = directory(tiles: [0, 300, 70_000], runs: [1, 200, 0], lengths: [9, 900, 1], offsets: [1, 0, 7])
        #expect(PMTilesDirectory(whole)?.entries.count == 3)
        for length in whole.indices { #expect(PMTilesDirectory(Array(whole.prefix(length))) == nil, "\(length)") }
    }

    @Test func aRunCoversItsTilesAndNoOther() {
        let directory = PMTilesDirectory(entries: [
            Entry(tile: 5, run: 3, length: 1, offset: 0), Entry(tile: 20, run: 1, length: 1, offset: 1),
            Entry(tile: 30, run: 0, length: 1, offset: 0),
        ])
        let covered = (0..<40).filter { directory.entry(for: $0) != nil }
        #expect(covered == [5, 6, 7, 20] + Array(30..<40), "a pointer covers all tiles from its own on")
        #expect(directory.entry(for: 7)?.tile == 5)
        #expect(directory.entry(for: .max)?.tile == 30)
    }

    @Test func sharedAndDescendingOffsetsComeBack() {
        let entries = [
            Entry(tile: 1, run: 1, length: 10, offset: 500), Entry(tile: 2, run: 1, length: 10, offset: 500),
            Entry(tile: 4, run: 9, length: 7, offset: 510), Entry(tile: 90, run: 1, length: 10, offset: 500),
            Entry(tile: 91, run: 1, length: 499, offset: 1), Entry(tile: 92, run: 1, length: 1, offset: 500),
        ]
        let encoded = PMTilesDirectory(entries: entries).encoded
        #expect(PMTilesDirectory(encoded)?.entries == entries)
        // Only a body directly after the previous entry's has the short form 0.
        #expect(Array(encoded.suffix(9)) == varint(501) + varint(501) + [0] + varint(501) + [2, 0])
    }

    @Test func anyBytesAreReadOrRefused() {
        var random = Random(3)
        var accepted = 0
        for _ in 0..<30_000 {
            var bytes = (0..<random.below(60)).map { _ in UInt8(truncatingIfNeeded: random.next() >> 3) }
            // Small counts and numbers, so that some of them are directories.
            if !bytes.isEmpty { bytes[0] = UInt8(random.below(6)) }
            for index in bytes.indices.dropFirst() where random.below(4) > 0 { bytes[index] &= 0x1F }
            guard let directory = PMTilesDirectory(bytes) else { continue }
            accepted += 1
            #expect(PMTilesDirectory(directory.encoded) == directory)
            for entry in directory.entries where entry.run > 0 {
                #expect(directory.entry(for: entry.tile) == entry)
            }
        }
        #expect(accepted > 500, "\(accepted)")
    }
}
