import Errors
import TestSupport
import Testing
import Tiles

@testable import TileBodies

/// MapLibre tiles made by hand, as the specification has them.
enum MLTSamples {
    /// The fixture of one point: extent 80, (13, 42) as zigzag.
    static let point: [UInt8] =
        [0x17, 1, 6] + Array("layer1".utf8)
        + [0x50, 1, 4, 2, 0x30, 2, 1, 1, 0, 0x13, 0x42, 2, 2, 0x1A, 0x54]
    static let geometry: [UInt8] = [2, 0x30, 2, 1, 1, 0, 0x13, 0x42, 2, 2, 0x1A, 0x54]

    /// A stream of values.
    static func stream(_ kind: UInt8 = 0x10, _ technique: UInt8 = 2, _ data: [UInt8] = [7], more: [UInt8] = [])
        -> [UInt8]
    {
        [kind, technique, 1, UInt8(data.count)] + more + data
    }

    static func named(_ code: UInt8, _ name: String) -> [UInt8] { [code, UInt8(name.utf8.count)] + Array(name.utf8) }

    /// A layer with a geometry, then other columns and their streams.
    static func layer(
        _ name: String = "roads", extent: [UInt8] = [0x80, 0x20], columns: [[UInt8]] = [], streams: [[UInt8]] = [],
        tag: UInt8 = 1
    ) -> [UInt8] {
        let body =
            [tag, UInt8(name.utf8.count)] + Array(name.utf8) + extent + [UInt8(columns.count + 1), 4]
            + columns.flatMap(\.self) + geometry + streams.flatMap(\.self)
        return Proto.varint(UInt64(body.count)) + body
    }

    /// Ids, every type of value, a text, and a struct with a shared dictionary.
    static let rich = layer(
        columns: [
            [3], named(11, "toll"), named(12, "a"), named(16, "lanes"), named(21, "b"), named(26, "width"),
            named(29, "name"), named(30, "name") + [2] + named(28, ":de") + named(29, ":fr"),
        ],
        streams: [
            stream(0x00, 0) + stream(), stream(0x00, 0x60) + stream(0x10, 0x60), stream(), stream(),
            stream(0, 0) + stream(),
            stream(0x10, 0, [1, 2, 3, 4, 5, 6, 7, 8]), [3] + stream(0, 0) + stream(0x30) + stream(0x10),
            [5] + stream(0x36) + stream(0x12) + [1] + stream(0x22) + [2] + stream(0, 0) + stream(0x22),
        ])
    static let tile = point + rich
}

struct MLTTests {
    @Test func aTileIsCheckedAndPackedAsVectorTilesAre() throws {
        for plain in [MLTSamples.point, MLTSamples.tile, MLTSamples.layer(streams: [])] {
            let packed = Gzip.compress(plain)
            let checker = BodyChecker()
            #expect(try checker.check(plain, coding: .identity, declared: .mlt) == packed)
            #expect(try checker.check(packed, coding: .gzip, declared: .mlt) == packed)
            #expect(try checker.check(Gzip.compress(packed), coding: .gzip, declared: .mlt) == packed)
            #expect(try checker.check(Zlib.compress(plain), coding: .identity, declared: .mlt) == packed)
            #expect(TileFormat(content: plain) == .mlt && TileFormat(content: packed) == .mlt)
            #expect(refusal(plain, .mvt) == "wrong-type" && refusal(packed, .png) != nil)
        }
        // A body that unpacks to nothing is a tile without layers, of every vector format.
        #expect(refusal(Gzip.compress([]), .mlt, .gzip) == nil)
        #expect(refusal([], .mlt) == "empty-body")
    }

    @Test func aMapboxVectorTileIsNoMLT() throws {
        let error = #expect(throws: TileBodiesError.self) {
            try BodyChecker().check(VectorSamples.plain, coding: .identity, declared: .mlt)
        }
        #expect(error?.code == .wrongType && error?.message.contains("Mapbox vector tile") == true)
        #expect(TileFormat(content: VectorSamples.plain) == .mvt)
        // 26 is a legal length of a layer; so are the first bytes of pages.
        for first: UInt8 in [0x1A, 0x3C, 0x5B, 0x7B] {
            let fill = Int(first) - MLTSamples.layer("").count + 1
            let name = String(repeating: "x", count: max(1, fill))
            let tile = MLTSamples.layer(name)
            #expect(tile.first == first && refusal(tile, .mlt) == nil, "\(first)")
        }
    }

    @Test func theLayersAndFieldsAreRead() throws {
        let summary = try BodyChecker().summary(of: Gzip.compress(MLTSamples.tile), as: .mlt)
        #expect(summary.layers.map(\.name) == ["layer1", "roads"])
        #expect(summary.layers.map(\.extent) == [80, 4_096] && summary.layers.map(\.features) == [1, 1])
        #expect(
            summary.layers[1].fields == [
                "toll": .boolean, "a": .number, "lanes": .number, "b": .number, "width": .number, "name": .string,
                "name:de": .string, "name:fr": .string,
            ])
        let memory = LayerCache()
        let checker = BodyChecker(layers: memory)
        _ = try checker.check(MLTSamples.tile, coding: .identity, declared: .mlt)
        #expect(checker.checkedLayers.map(Set.init) == memory.numbers(of: summary).map(Set.init))
    }

    @Test func aTileIsRefusedWhereverItIsCut() {
        for tile in [MLTSamples.point, MLTSamples.rich] {
            for count in 1..<tile.count {
                #expect(refusal(Array(tile[..<count]), .mlt) != nil, "\(count)")
            }
        }
        #expect(refusal(Array(MLTSamples.point.dropLast()), .mlt) == "truncated")
        #expect(refusal(MLTSamples.point + [0], .mlt) == "bad-mlt")
        #expect(refusal(Array(Gzip.compress(MLTSamples.point).dropLast()), .mlt, .gzip) == "bad-coding")
    }

    /// Layers of other tags are stepped over, as decoders do.
    @Test func anUnknownLayerIsKept() {
        let other = MLTSamples.layer(tag: 2)
        #expect(refusal(other, .mlt) == nil && refusal(MLTSamples.point + other + [4, 0x85, 1, 9, 9], .mlt) == nil)
        // Alone it is not recognised in a file that does not say what its tiles are.
        #expect(TileFormat(content: other) == nil)
    }

    private static let wrong: [(String, [UInt8])] = [
        ("no name", MLTSamples.layer("")), ("extent 0", MLTSamples.layer(extent: [0])),
        ("extent of 33 bits", MLTSamples.layer(extent: [0x80, 0x80, 0x80, 0x80, 0x10])),
        ("column type 5", MLTSamples.layer(columns: [[5]])),
        ("column type 31", MLTSamples.layer(columns: [[31, 1, 97]])),
        ("two geometries", MLTSamples.layer(columns: [[4]], streams: [MLTSamples.geometry])),
        ("two ids", MLTSamples.layer(columns: [[0], [2]], streams: [MLTSamples.stream(), MLTSamples.stream()])),
        ("name that is not UTF-8", MLTSamples.layer(columns: [[16, 1, 0xFF]], streams: [MLTSamples.stream()])),
        ("column without stream", MLTSamples.layer(columns: [MLTSamples.named(16, "a")])),
        ("stream of kind 4", MLTSamples.layer(columns: [[0]], streams: [MLTSamples.stream(0x40)])),
        ("data of kind 6", MLTSamples.layer(columns: [[0]], streams: [MLTSamples.stream(0x16)])),
        ("technique 6", MLTSamples.layer(columns: [[0]], streams: [MLTSamples.stream(0x10, 0xC2)])),
        ("packing 3", MLTSamples.layer(columns: [[0]], streams: [MLTSamples.stream(0x10, 3)])),
        ("stream beyond the layer", MLTSamples.layer(columns: [[0]], streams: [[0x10, 2, 1, 0x7F, 1]])),
        ("bytes behind the columns", MLTSamples.layer(streams: [[9]])),
        (
            "a struct in a struct",
            MLTSamples.layer(columns: [MLTSamples.named(30, "a") + [1] + MLTSamples.named(30, "b")])
        ),
        ("columns without end", [0x0D, 1, 1, 97, 0x50, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 4, 4, 4, 4]),
        ("geometry without streams", [0x07, 1, 1, 97, 0x50, 1, 4, 0]),
    ]

    @Test(arguments: wrong) func aBrokenTableIsRefused(_ one: (String, [UInt8])) {
        let code = refusal(one.1, .mlt)
        #expect(code == "bad-mlt" || code == "truncated", "\(one.0): \(code ?? "taken")")
    }

    /// Hundreds of thousands of columns cost no memory: they are refused at the limit.
    @Test func columnsAreLimited() {
        let count = MLTScanner.columnLimit + 1
        let table = [UInt8](repeating: 28, count: 1) + [0]
        let body =
            [1, 1, 97, 0x50] + Proto.varint(UInt64(count)) + (0..<count).flatMap { _ in table }
        #expect(refusal(Proto.varint(UInt64(body.count)) + body, .mlt) == "bad-mlt")
        let layers = [UInt8]((0...VectorTileScanner.layerLimit).flatMap { _ in [UInt8(1), 9] })
        #expect(refusal(layers, .mlt) == "bad-mlt")
    }

    @Test func damagedTilesNeverTrap() {
        let checker = BodyChecker(limit: 1 << 20)
        var dice = SplitMix(state: 7)
        var taken = 0
        for _ in 0..<30_000 {
            var tile = MLTSamples.tile
            for _ in 0...dice.next() % 3 {
                tile[Int(dice.next() % UInt64(tile.count))] = UInt8(truncatingIfNeeded: dice.next())
            }
            if (try? checker.check(tile, coding: .identity, declared: .mlt)) != nil { taken += 1 }
            _ = try? checker.summary(of: tile, as: .mlt)
        }
        #expect((1..<30_000).contains(taken))
    }
}
