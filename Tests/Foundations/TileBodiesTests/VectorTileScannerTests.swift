import Testing

@testable import TileBodies

struct VectorTileScannerTests {
    private func counts(_ tile: [UInt8]) throws -> VectorTileScanner.Counts {
        try tile.withUnsafeBytes { try VectorTileScanner.scan($0) }
    }

    private func refused(_ tile: [UInt8]) -> Bool {
        do {
            _ = try counts(tile)
            return false
        } catch {
            return true
        }
    }

    @Test func countsWhatIsThere() throws {
        let counts = try counts(VectorSamples.plain)
        #expect(counts.layers == 2)
        #expect(counts.features == 3)
        #expect(counts.vertices == 12)
    }

    @Test func noBytesAreATileWithoutLayers() throws { #expect(try counts([]).layers == 0) }

    @Test func unknownFieldsAreSteppedOver() throws {
        let tile = Proto(bytes: VectorSamples.plain).number(20, 5).text(21, "extension").bytes
        #expect(try counts(tile).layers == 2)
    }

    @Test func brokenRulesAreRefused() {
        typealias Make = VectorSamples
        let broken: [String: [UInt8]] = [
            "a name twice": Make.tile([Make.layer(), Make.layer()]),
            "no name": Make.tile([Make.layer(name: "")]),
            "no version": Make.tile([Make.layer(version: nil)]),
            "version 3": Make.tile([Make.layer(version: 3)]),
            "odd tags": Make.tile([Make.layer(features: [Make.feature(tags: [0])])]),
            "a key beyond the keys": Make.tile([Make.layer(features: [Make.feature(tags: [1, 0])])]),
            "a value beyond the values": Make.tile([Make.layer(features: [Make.feature(tags: [0, 3])])]),
            "type 4": Make.tile([Make.layer(features: [Make.feature(type: 4)])]),
            "command 3": Make.tile([Make.layer(features: [Make.feature(geometry: [11, 0, 0])])]),
            "LineTo first": Make.tile([Make.layer(features: [Make.feature(geometry: [10, 2, 2])])]),
            "MoveTo of no points": Make.tile([Make.layer(features: [Make.feature(geometry: [1])])]),
            "two ClosePaths": Make.tile([Make.layer(features: [Make.feature(geometry: [9, 2, 2, 23])])]),
            "a missing parameter": Make.tile([Make.layer(features: [Make.feature(geometry: [9, 2])])]),
            "a huge count": Make.tile([Make.layer(features: [Make.feature(geometry: [0xffff_fff9, 2, 2])])]),
            "a command beyond 32 bits": Make.tile([Make.layer(features: [Make.feature(geometry: [1 << 33 | 9, 2, 2])])]
            ),
            "a key that is not UTF-8": Make.tile([Proto(bytes: Make.layer()).data(3, [0xff, 0xfe]).bytes]),
            "a layer that is a number": Proto().number(3, 1).bytes,
            "field 0": [0x02, 0x00],
            "a group": [0x0b],
            "a number of 65 bits": [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02],
            "too many layers": Make.tile((0...VectorTileScanner.layerLimit).map { Make.layer(name: "\($0)") }),
        ]
        for (rule, tile) in broken { #expect(refused(tile), "\(rule)") }
    }

    @Test func everyTruncationIsRefusedExceptBetweenLayers() {
        let boundary = VectorSamples.tile([VectorSamples.layer()]).count
        for count in 1..<VectorSamples.plain.count {
            #expect(refused(Array(VectorSamples.plain.prefix(count))) == (count != boundary), "cut to \(count) bytes")
        }
    }

    @Test func summaryNamesLayersAndTypesOfFields() throws {
        let summary = try BodyChecker().summary(of: Gzip.compress(VectorSamples.plain))
        #expect(summary.layers.map(\.name) == ["water", "roads"])
        #expect(summary.layers.map(\.features) == [1, 2])
        #expect(summary.layers[0].fields == ["class": .string])
        #expect(summary.layers[1].fields == ["class": .mixed])
        #expect(summary.layers[0].extent == 4096)
    }

    @Test func vectorLayersAreTheSameInAnyOrder() throws {
        let checker = BodyChecker()
        let one = try checker.summary(of: VectorSamples.plain)
        let other = try checker.summary(of: VectorSamples.tile([VectorSamples.layer(name: "a\"b\n", keys: ["é"])]))
        var forward = VectorLayers()
        forward.add(one, zoom: 3)
        forward.add(other, zoom: 9)
        forward.add(one, zoom: 5)
        var backward = VectorLayers()
        backward.add(one, zoom: 5)
        var part = VectorLayers()
        part.add(other, zoom: 9)
        part.add(one, zoom: 3)
        backward.formUnion(part)
        #expect(forward == backward)
        #expect(
            forward.json == """
                [{"fields":{"é":"String"},"id":"a\\"b\\u000a","maxzoom":9,"minzoom":9},\
                {"fields":{"class":"Mixed"},"id":"roads","maxzoom":5,"minzoom":3},\
                {"fields":{"class":"String"},"id":"water","maxzoom":5,"minzoom":3}]
                """)
    }
}
