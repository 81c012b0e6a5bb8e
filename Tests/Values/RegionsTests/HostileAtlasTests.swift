import Errors
import Foundation
import Testing
import Tiles

@testable import Regions

/// Damaged boundaries are refused or give some other shape; they never trap and never ask for much memory.
struct HostileAtlasTests {
    /// Two squares that share a border, on a grid of 8 bits, in the format of ops/regions/FORMAT.md.
    static let small: [UInt8] = {
        let arcs: [[UInt8]] = [
            [2, 20, 10, 0, 20],  // the shared border, from (20,10) down to (20,20)
            [4, 20, 20, 19, 0, 0, 19, 20, 0],  // the rest of the left square
            [4, 20, 10, 20, 0, 0, 20, 19, 0],  // the rest of the right square
        ]
        let pieces: [[UInt8]] = [[1, 2, 0, 4], [1, 2, 1, 8]]
        var out = Array("PHRG".utf8) + [1, 8, 3, 2]
        out += arcs.map { UInt8($0.count) }
        out += [2] + Array("AA".utf8) + [UInt8(pieces[0].count), 10, 10, 10, 10]
        out += [2] + Array("BB".utf8) + [UInt8(pieces[1].count), 20, 10, 10, 10]
        return out + arcs.joined() + pieces.joined()
    }()

    func use(_ bytes: [UInt8]) {
        do {
            let atlas = try PieceAtlas(ResourceBytes(bytes))
            var points = try atlas.outline(ofAll: Array(atlas.pieces.indices)).joined().count
            for piece in atlas.pieces.indices { points += try atlas.outline(of: piece).joined().count }
            #expect(points <= 100 * bytes.count * bytes.count)
        } catch {
            #expect(error.code == .badResource)
        }
    }

    @Test func theSmallAtlasIsTwoSquares() throws {
        let atlas = try PieceAtlas(ResourceBytes(Self.small))
        #expect(atlas.pieces.map(\.id) == ["AA", "BB"])
        let whole = try atlas.outline(ofAll: [0, 1])
        #expect(whole.count == 1)
        #expect(whole.first?.count == 6)
        #expect(
            try atlas.outline(of: 0).first?.map { [$0.x >> 24, $0.y >> 24] } == [
                [20, 10], [20, 20], [10, 20], [10, 10],
            ])
    }

    @Test func everyTruncationIsRefused() {
        for length in 0..<Self.small.count {
            #expect(throws: RegionsError.self) { try PieceAtlas(ResourceBytes(Array(Self.small.prefix(length)))) }
        }
        #expect(throws: RegionsError.self) { try PieceAtlas(ResourceBytes(Self.small + [0])) }
    }

    @Test func everyByteMayHaveEveryValue() {
        for position in Self.small.indices {
            for value in UInt8.min...UInt8.max {
                var bytes = Self.small
                bytes[position] = value
                use(bytes)
            }
        }
    }

    @Test func mutationsOfTheEmbeddedAtlasNeverTrap() throws {
        let original = try ResourceBytes.boundaries.withBytes { Array($0) }
        var random = SplitMix(state: 7)
        for round in 0..<12 {
            var bytes = original
            for _ in 0..<(1 << round % 6) {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            use(bytes)
            use(Array(original.prefix(Int(random.next() % UInt64(original.count)))))
        }
        // The directory alone, where a byte moves everything.
        for _ in 0..<200 {
            var bytes = Array(original.prefix(12000))
            bytes[Int(random.next() % 12000)] = UInt8(truncatingIfNeeded: random.next())
            use(bytes)
        }
    }

    @Test func randomBytesAreRefused() {
        var random = SplitMix(state: 11)
        for length in 0..<300 {
            use(Array("PHRG".utf8) + [1, 18] + (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        }
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"format":2,"languages":[],"nodes":[]}"#,
        #"{"format":1,"languages":["en"],"nodes":[{"id":"A","kind":"planet","bounds":[0,0,1,1],"names":"a"}]}"#,
        #"{"format":1,"languages":["en"],"nodes":[{"id":"A","kind":"world","bounds":[0,0,1],"names":"a"}]}"#,
        #"{"format":1,"languages":["en"],"nodes":[{"id":"A","kind":"world","bounds":[0,9,1,1],"names":"a"}]}"#,
        #"{"format":1,"languages":["en"],"nodes":[{"id":"A","kind":"country","parent":"B","bounds":[0,0,1,1],"names":"a"}]}"#,
        #"{"format":1,"languages":["en"],"nodes":[]"#, #"{"format":1,"languages":["en],"nodes":[]}"#,
        #"{"format":1,"languages":["en"],"nodes":[]}x"#, #"{"format":1,"languages":["e\n"],"nodes":[]}"#,
        #"{"format":1,"languages":["en"],"nodes":[{"id":"A","kind":"world","bounds":[0,0,1,1.2345678901234567],"names":"a"}]}"#,
        #"{"format":1,"languages":["en"],"nodes":[{"id":"A","kind":"world","bounds":[0,-,1,1],"names":"a"}]}"#,
        #"{"format":1,"languages":["en"],"nodes":[{"id":"A","kind":"world","bounds":[0,0,1,1],"names":"a","size":1}]}"#,
        #"{"format":1,"languages":["en"],"nodes":[{"id":"A","kind":"world","bounds":[0,0,1,1]"names":"a"}]}"#,
    ])
    func damagedListsAreRefused(_ text: String) throws {
        let atlas = try PieceAtlas(ResourceBytes(Self.small))
        let error = #expect(throws: RegionsError.self) {
            try RegionTree(manifest: RegionManifest.read(ResourceBytes(Array(text.utf8))), atlas: atlas)
        }
        #expect(error?.code == .badResource)
    }

    @Test func everyCutOfAListIsRefused() throws {
        let text = Array(
            #"{"format":1, "languages":["en"], "nodes":[{"id":"A","bounds":[-0.5,0],"names":"a|b"}]}"#.utf8)
        for length in text.indices {
            #expect(throws: RegionsError.self) { try RegionManifest.read(ResourceBytes(Array(text[..<length]))) }
        }
        let node = try #require(try RegionManifest.read(ResourceBytes(text)).nodes.first)
        #expect(node.names == ["a", "b"] && node.bounds == [-0.5, 0] && node.parent == nil)
    }

    /// Foundation's decoder is the judge of every member of the embedded list.
    @Test func theListIsReadAsAnyDecoderReadsIt() throws {
        let bytes = try ResourceBytes.manifest.withBytes { Array($0) }
        let list = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        let nodes = try #require(list["nodes"] as? [[String: Any]])
        let read = try RegionManifest.read(.manifest)
        #expect(read.languages == list["languages"] as? [String])
        #expect(read.nodes.count == nodes.count)
        for (node, expected) in zip(read.nodes, nodes) {
            #expect(node.id == expected["id"] as? String)
            #expect(node.kind == expected["kind"] as? String)
            #expect(node.parent == expected["parent"] as? String)
            #expect(node.also == expected["also"] as? [String] ?? [])
            #expect(node.alpha3 == expected["alpha3"] as? String)
            #expect(node.numeric == expected["numeric"] as? String)
            #expect(node.bounds == expected["bounds"] as? [Double])
            #expect(node.boxes == expected["boxes"] as? [[Double]] ?? [])
            #expect(node.names.joined(separator: "|") == expected["names"] as? String)
            #expect(node.aliases == expected["aliases"] as? [String] ?? [])
        }
    }
}
