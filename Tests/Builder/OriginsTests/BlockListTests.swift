import Errors
import Foundation
import PMTiles
import TestSupport
import Testing

@testable import Origins

/// The reader of lists of blocks, its hash, and which blocks a plan takes.
struct BlockListTests {
    /// As libxxhash 0.8.1 gives them, for the bytes 7, 138, 13 …: each 131 more than the one before.
    @Test(
        arguments: [
            (0, 0xEF46_DB37_51D8_E999), (1, 0xA96C_7F0C_E858_BBB7), (3, 0xBED4_3740_EE63_32BB),
            (4, 0xFA21_2AE4_4B3B_B23D),
            (7, 0x2744_460D_D675_D2C0), (8, 0x994B_676B_71CE_94DD), (12, 0xB92F_588C_E720_786E),
            (31, 0x6711_D55E_306B_5D8F), (32, 0x07F7_B8E3_BC5D_6E25), (33, 0x09F8_5EEB_4E1C_BE9F),
            (39, 0xB13C_137A_0FB7_01C3), (63, 0xB7C9_968C_066C_B6A5), (64, 0x50D4_159A_0411_632E),
            (100, 0x9DDA_DA11_D3DC_2D8F), (1_000, 0x0BF0_BDBC_C82E_B373), (4_096, 0xCF05_ADF7_5ACA_30CF),
        ] as [(Int, UInt64)])
    func theHashIsThatOfTheReference(count: Int, expected: UInt64) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 131 + 7) }
        #expect(XXH64.hash(bytes) == expected)
        #expect(XXH64.hash([1, 2, 3] + bytes + [4], in: 3..<3 + count) == expected)
        #expect(SyncList.hash(bytes[...]) == expected, "the maker of the tests")
        #expect(XXH64.hash(Array("abc".utf8)) == 0x44BC_2CF5_AD77_0999)
    }

    private static let bodies = (0..<40).map { number in [UInt8](repeating: UInt8(number), count: 300 + number * 10) }

    private static func read(
        _ list: [UInt8], bodies: Int, piece: Int = 1 << 20
    ) throws(OriginsError) -> [BlockListReader.Block] {
        var reader = try BlockListReader(fileBytes: UInt64(list.count), bodyBytes: UInt64(bodies))
        var blocks: [BlockListReader.Block] = []
        for start in stride(from: 0, to: list.count, by: piece) {
            blocks += try reader.take(Array(list[start..<min(start + piece, list.count)]))
        }
        try reader.finish()
        return blocks
    }

    @Test(arguments: [1, 2, 13, 1_000_000])
    func aListOfTheMakerIsRead(piece: Int) throws {
        let entries = Self.bodies.enumerated().map { (tile: UInt64($0 * 3), body: $1) }
        let list = SyncList.bytes(of: entries, blockSize: 2_000)
        let all = Self.bodies.flatMap(\.self)
        let blocks = try Self.read(list, bodies: all.count, piece: piece)
        #expect(blocks.count > 8 && blocks.first?.offset == 0)
        for (block, next) in zip(blocks, blocks.dropFirst()) {
            #expect(block.offset + block.length == next.offset && block.tile < next.tile)
        }
        for block in blocks {
            let place = Int(block.offset)..<Int(block.offset + block.length)
            #expect(block.length <= 2_000 && XXH64.hash(all, in: place) == block.hash)
        }
        // With a block size of 0 each body is a block.
        let single = try Self.read(SyncList.bytes(of: entries, blockSize: 0), bodies: all.count, piece: piece)
        #expect(single.map(\.length) == Self.bodies.map { UInt64($0.count) })
    }

    @Test func aListOfAnotherArchiveIsRefused() throws {
        let entries = Self.bodies.enumerated().map { (tile: UInt64($0 * 3), body: $1) }
        let list = SyncList.bytes(of: entries, blockSize: 2_000)
        let bytes = Self.bodies.reduce(0) { $0 + $1.count }
        for other in [bytes - 1, bytes + 1, 0] {
            #expect(throws: OriginsError.self) { try Self.read(list, bodies: other) }
        }
        for end in list.indices {
            #expect(throws: OriginsError.self) { try Self.read(Array(list[..<end]), bodies: bytes) }
        }
        #expect(throws: OriginsError.self) { try Self.read(list + [0], bodies: bytes) }
        #expect(throws: OriginsError.self) {
            try BlockListReader(fileBytes: BlockListReader.largest + 1, bodyBytes: 1 << 40)
        }
    }

    @Test func onlyBlocksWithPlannedBodiesAreTaken() throws {
        let run = { (tile: UInt64, offset: UInt64, length: UInt32) in
            RangePlan.Run(tile: tile, count: 1, length: length, offset: offset)
        }
        let plan = { (runs: [RangePlan.Run]) in
            RangePlan(archive: .init(length: 5_000, etag: "", lastModified: "", head: []), runs: runs, requests: [])
        }
        let section = PMTilesHeader.Section(offset: 1_000, length: 4_000)
        let blocks = (0..<4).map { number in
            BlockListReader.Block(
                tile: UInt64(number) * 10, offset: UInt64(number) * 1_000, length: 1_000, hash: UInt64(number))
        }
        // A body that a later tile has too; the last block has no planned body.
        let good = plan([run(0, 1_000, 500), run(25, 1_000, 500), run(21, 3_500, 500), run(22, 0, 0)])
        var chosen = PlannedBlocks(good, in: section)
        for block in blocks { try chosen.add(block) }
        #expect(chosen.blocks.map(\.offset) == [1_000, 3_000] && chosen.isWhole)
        let withBlocks = good.with(chosen.blocks)
        #expect(withBlocks.tag(of: 3_500..<4_000) == "\"block-0000000000000002-1000-500-500\"")
        #expect(withBlocks.tag(of: 2_500..<2_600) == nil && withBlocks.tag(of: 3_900..<4_001) == nil)
        #expect(RangePlan(withBlocks.encoded) == withBlocks)
        // A body across two blocks, and one of a tile before the first one of its block: the list is of another build.
        for wrong in [plan([run(0, 1_900, 200)]), plan([run(9, 2_000, 100)])] {
            var refusing = PlannedBlocks(wrong, in: section)
            #expect(throws: OriginsError.self) { for block in blocks { try refusing.add(block) } }
        }
        var behind = PlannedBlocks(plan([run(0, 1_000, 500), run(50, 4_900, 100)]), in: section)
        for block in blocks.dropLast() { try behind.add(block) }
        #expect(!behind.isWhole)
    }
}
