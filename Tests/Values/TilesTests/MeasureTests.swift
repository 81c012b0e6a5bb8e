import Foundation
import Testing
import Tiles

/// Speeds on a shape of Russia's size: 100,000 corners, about 14 million tiles of zoom 14.
///
/// Run with PACKHORSE_MEASURE=1 and
/// `-c release`; the limits are several times what was measured, for slower and busier machines.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["PACKHORSE_MEASURE"] != nil, "PACKHORSE_MEASURE is not set"))
struct MeasureTests {
    /// A ragged ring around a centre in units of the world.
    private func ring(_ seed: UInt64, x: Double, y: Double, wide: Double, high: Double) -> [MercatorPoint] {
        var random = SeededRandom(seed)
        let world = Double(MercatorPoint.world)
        return (0..<100_000).map { index in
            let angle = 2 * Double.pi * Double(index) / 100_000
            let waves = 1 + 0.1 * sin(angle * 23) + 0.03 * sin(angle * 301) + 0.002 * sin(angle * 4_001)
            let reach = waves + Double.random(in: -0.0005...0.0005, using: &random)
            return MercatorPoint(
                x: Int64((x + wide * reach * cos(angle)) * world), y: Int64((y + high * reach * sin(angle)) * world))
        }
    }

    private func timed<Value>(_ name: String, limit: Duration, _ body: () throws -> Value) rethrows -> Value {
        let clock = ContinuousClock()
        let start = clock.now
        let value = try body()
        let time = clock.now - start
        print("\(name): \(time)")
        #expect(time < limit, "\(name)")
        return value
    }

    @Test func aShapeOfRussiasSizeIsQuick() throws {
        let shape = MercatorShape(polygons: [[ring(1, x: 0.7, y: 0.25, wide: 0.18, high: 0.09)]])
        let mask = timed("cover 100k corners at z14", limit: .seconds(1)) { TileMask(covering: shape, maxZoom: 14) }
        let other = TileMask(
            covering: MercatorShape(polygons: [[ring(2, x: 0.72, y: 0.26, wide: 0.17, high: 0.09)]]), maxZoom: 14)
        let count = timed("count z14", limit: .milliseconds(50)) { mask.count(atZoom: 14) }
        let bytes = mask.encoded().count
        print("tiles \(count), storage \(mask.storageBytes) bytes, encoded \(bytes) bytes")
        let sum = timed("enumerate z14", limit: .seconds(2)) {
            var sum: UInt64 = 0
            for tile in mask.occupiedTiles(atZoom: 14) { sum &+= UInt64(truncatingIfNeeded: tile.x ^ tile.y) | 1 << 40 }
            return sum >> 40
        }
        #expect(sum == count)
        let ids = timed("enumerate z14 with Hilbert ids", limit: .seconds(5)) {
            var last: UInt64 = 0
            var sorted = true
            for tile in mask.occupiedTiles(atZoom: 14) {
                let id = tile.hilbertID
                sorted = sorted && id > last
                last = id
            }
            return sorted
        }
        #expect(ids)
        _ = timed("union", limit: .milliseconds(200)) { mask.union(other) }
        _ = timed("intersection", limit: .milliseconds(200)) { mask.intersection(other) }
        _ = timed("subtraction", limit: .milliseconds(200)) { mask.subtracting(other) }
        let encoded = timed("encode", limit: .milliseconds(200)) { mask.encoded() }
        #expect(try timed("decode", limit: .milliseconds(200)) { try TileMask(decoding: encoded) } == mask)
        let text = timed("CARTO text", limit: .milliseconds(500)) { mask.cartoWire }
        #expect(try timed("CARTO read", limit: .milliseconds(500)) { try TileMask(cartoText: text) } == mask)
    }
}
