import Digests
import Scheduling
import Tiles

/// FNV-1a over numbers: names contents and traces without depending on hash seeds.
struct Fingerprint {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ number: UInt64) { value = (value ^ number) &* 0x0000_0100_0000_01B3 }
    mutating func add(_ number: Int64) { add(UInt64(bitPattern: number)) }
    mutating func add(_ id: some NumberedID) { add(id.rawValue) }
    mutating func add(_ number: Int) { add(Int64(number)) }
    mutating func add(_ tile: TileID) { add(UInt64(tile.zoom) << 48 | UInt64(tile.x) << 24 | UInt64(tile.y)) }

    /// A digest that stands for a SHA-256.
    var digest: Digest { Bench.digest(SeededRandom.mix(value)) }
}
