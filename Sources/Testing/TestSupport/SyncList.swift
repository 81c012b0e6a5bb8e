/// Makes lists of the blocks of PMTiles archives by the rule of `pmtiles makesync` of go-pmtiles, apart from the program that reads them.
public enum SyncList {
    /// The list of an archive whose bodies lie in the order of their tiles.
    ///
    /// - Parameters:
    ///   - entries: The first tile of each body and the body, ascending; equal bodies once.
    ///   - blockSize: The most bytes of a block that has more than one body; 0 = each body is a block.
    ///   - members: Members of the line of JSON in place of the right ones.
    ///   - wrong: The numbers of blocks that get another hash.
    public static func bytes(
        of entries: [(tile: UInt64, body: [UInt8])], blockSize: Int, members: [String: String] = [:],
        wrong: Set<Int> = []
    ) -> [UInt8] {
        var blocks: [(tile: UInt64, bytes: [UInt8])] = []
        for entry in entries {
            if let last = blocks.last, last.bytes.count + entry.body.count <= blockSize {
                blocks[blocks.count - 1].bytes += entry.body
            } else {
                blocks.append((entry.tile, entry.body))
            }
        }
        let right = [
            "version": "\"test\"", "block_size": "\(blockSize)", "hash_type": "\"xxh64\"", "hash_size": "8",
            "num_blocks": "\(blocks.count)",
        ]
        let head = right.merging(members) { $1 }.sorted { $0.key < $1.key }.map { "\"\($0)\":\($1)" }
        var list = Array("{\(head.joined(separator: ","))}\n".utf8)
        var last: UInt64 = 0
        for (number, block) in blocks.enumerated() {
            let hash = hash(block.bytes[...]) ^ (wrong.contains(number) ? 1 : 0)
            list += varint(block.tile - last) + varint(UInt64(block.bytes.count)) + little(hash)
            last = block.tile
        }
        return list
    }

    /// XXH64 with the seed 0, step by step as its specification says it.
    public static func hash(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        let primes: [UInt64] = [
            11_400_714_785_074_694_791, 14_029_467_366_897_019_727, 1_609_587_929_392_839_161,
            9_650_029_242_287_828_579, 2_870_177_450_012_600_261,
        ]
        func turned(_ value: UInt64, _ count: UInt64) -> UInt64 { (value << count) | (value >> (64 - count)) }
        func mixed(_ sum: UInt64, _ input: UInt64) -> UInt64 { turned(sum &+ input &* primes[1], 31) &* primes[0] }
        func number(_ part: ArraySlice<UInt8>) -> UInt64 { part.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
        var rest = bytes
        var sum: UInt64 = primes[4]
        if rest.count >= 32 {
            var sums: [UInt64] = [primes[0] &+ primes[1], primes[1], 0, 0 &- primes[0]]
            while rest.count >= 32 {
                for lane in 0..<4 {
                    sums[lane] = mixed(sums[lane], number(rest.prefix(8)))
                    rest = rest.dropFirst(8)
                }
            }
            sum = turned(sums[0], 1) &+ turned(sums[1], 7) &+ turned(sums[2], 12) &+ turned(sums[3], 18)
            for lane in sums { sum = (sum ^ mixed(0, lane)) &* primes[0] &+ primes[3] }
        }
        sum = sum &+ UInt64(bytes.count)
        while rest.count >= 8 {
            sum = turned(sum ^ mixed(0, number(rest.prefix(8))), 27) &* primes[0] &+ primes[3]
            rest = rest.dropFirst(8)
        }
        if rest.count >= 4 {
            sum = turned(sum ^ (number(rest.prefix(4)) &* primes[0]), 23) &* primes[1] &+ primes[2]
            rest = rest.dropFirst(4)
        }
        for byte in rest { sum = turned(sum ^ (UInt64(byte) &* primes[4]), 11) &* primes[0] }
        sum = (sum ^ (sum >> 33)) &* primes[1]
        sum = (sum ^ (sum >> 29)) &* primes[2]
        return sum ^ (sum >> 32)
    }

    static func varint(_ value: UInt64) -> [UInt8] {
        var (rest, bytes) = (value, [UInt8]())
        while rest > 127 {
            bytes.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    static func little(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }
}
