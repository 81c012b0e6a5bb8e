import Errors
import Testing
import Tiles

struct CartoVectorTests {
    @Test func everyEncodeVectorIsMetByteForByte() throws {
        for vector in try CartoVectors.load().encode {
            let tiles = try vector.tiles.map(southTile)
            let deepest = max(vector.maxZoom, vector.clipZoom)
            let mask = TileMask(tiles: tiles, maxZoom: deepest, orphans: .dropped)
            let text = mask.cartoText(clipZoom: vector.clipZoom)
            #expect(text == vector.mask, "\(vector.name)")
            #expect("\(text):\(vector.maxZoom)" == vector.wire, "\(vector.name)")
            #expect(text.replacing("+", with: "-").replacing("/", with: "_") == vector.urlSafe, "\(vector.name)")
            let tree = try CartoTree(vector.wire)
            #expect(tree.text == vector.mask, "\(vector.name)")
            #expect(tree.maxZoom == vector.maxZoom)
            #expect(bits(tree.nodes) == vector.bits, "\(vector.name)")
            if vector.clipZoom <= vector.maxZoom {
                let back = try TileMask(cartoText: vector.wire)
                #expect(back.cartoText == vector.mask, "\(vector.name)")
                #expect(back.cartoWire == vector.wire, "\(vector.name)")
                #expect(back.cartoURLText == vector.urlSafe, "\(vector.name)")
                #expect(try TileMask(cartoText: vector.urlSafe + ":\(vector.maxZoom)") == back, "\(vector.name)")
            } else {
                // Deeper than its tiles, a tree comes back as it was when read to the depth it was clipped at.
                let back = try TileMask(cartoText: "\(vector.mask):\(vector.clipZoom)")
                #expect(back == mask, "\(vector.name)")
                #expect(back.cartoText == vector.mask, "\(vector.name)")
            }
        }
    }

    private func bits(_ nodes: [UInt8]) -> String { nodes.map { "\($0 >> 1)\($0 & 1)" }.joined() }

    @Test func everyBoxVectorIsMetByteForByte() throws {
        for vector in try CartoVectors.load().bbox {
            let box = try BoundingBox(parsing: vector.packageId)
            let mask = TileMask(covering: MercatorShape(box), maxZoom: vector.tileZoom)
            guard let count = vector.tileCount, let wire = vector.wire, let clip = vector.chosenClipZoom else {
                #expect(mask.count > 250_000, "\(vector.name)")
                continue
            }
            #expect(mask.count == count, "\(vector.name)")
            #expect("\(mask.cartoText(clipZoom: clip)):\(mask.maxZoom)" == wire, "\(vector.name)")
            if vector.tileZoom == 14 {
                #expect(mask.cartoRequestText == vector.urlSafe, "\(vector.name)")
            }
            let back = try TileMask(cartoText: wire)
            #expect(back.cartoText == vector.mask, "\(vector.name)")
            #expect(back.cartoURLText == vector.urlSafe, "\(vector.name)")
            #expect(back.intersection(mask) == mask, "\(vector.name): the text stands for all of the mask")
        }
    }

    @Test func everyStatusVectorIsMet() throws {
        for vector in try CartoVectors.load().status {
            let text = "\(vector.mask):\(vector.maxZoom)"
            let (mask, tree) = (try TileMask(cartoText: text), try CartoTree(text))
            for (name, status) in vector.tiles {
                #expect(mask.contains(try southTile(name)) == (status == "FULL"), "\(vector.mask) \(name)")
                #expect(tree.covers(try southTile(name)) == (status == "FULL"), "\(vector.mask) \(name)")
            }
            #expect(tree.text == vector.mask.replacing("_", with: "/").replacing("-", with: "+"))
        }
    }

    @Test func everyDecodeVectorIsMet() throws {
        for vector in try CartoVectors.load().decode {
            let text = "\(vector.input):\(vector.maxZoom)"
            let (mask, tree) = (try TileMask(cartoText: text), try CartoTree(text))
            let inside = try vector.tiles.filter { $0.value == "FULL" }.map { try southTile($0.key) }
            for (name, status) in vector.tiles {
                let tile = try southTile(name)
                #expect(tree.covers(tile) == (status == "FULL"), "\(vector.input) \(name)")
                // A mask holds the parents of its tiles, also where a hand-made text does not.
                #expect(mask.contains(tile) == inside.contains { tile.contains($0) || $0.contains(tile) })
            }
            // Filled up to whole groups of characters, the text comes back.
            let bare = vector.input.filter { $0 != "=" }
            #expect(tree.text == bare + String(repeating: "A", count: (4 - bare.utf8.count % 4) % 4))
        }
    }

    @Test func brokenTextsAreRefusedWithAReason() throws {
        for text in ["", ":14", "w", "wPD", "wAAA:23", "wAAA:", "wAAA:x", "wAAA:1:2", "w*AA", "////", "_____"] {
            let error = #expect(throws: TilesError.self, "\(text)") { try TileMask(cartoText: text) }
            #expect(error?.code == .badMask)
        }
    }

    @Test func theTextStaysSmallWhateverTheMask() throws {
        // Complete to zoom 21 but not 22: written out it would be 4^22 nodes.
        let mask = TileMask(full: 21).union(TileMask(empty: 22))
        #expect(mask.maxZoom == 22)
        #expect(mask.cartoText.utf8.count < 6_000_000)
        #expect(try TileMask(decoding: mask.encoded()) == mask)
        #expect(mask.encoded().count < 10)
    }
}
