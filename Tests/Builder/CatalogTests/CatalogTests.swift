import Catalog
import CatalogFormat
import Digests
import Errors
import Files
import Foundation
import Testing
import Tiles

struct CatalogTests {
    let scratch: Scratch
    let catalog: Catalog

    init() throws {
        scratch = try Scratch()
        catalog = try Catalog(scratch.file("catalog"), create: true, baseURL: "https://maps.example/offline")
    }

    private func request(
        _ id: String, _ text: String, names: [String: String] = ["en": "Europe/Estonia"], mask: String = "QAAA:14",
        size: UInt64? = nil
    ) throws -> PublishRequest {
        try scratch.request(id, text, names: names, mask: mask, size: size)
    }

    private func listText() throws -> String {
        String(decoding: try Data(contentsOf: scratch.file("catalog/packages.json")), as: UTF8.self)
    }

    @Test func theListIsWhatClientsRead() throws {
        _ = try catalog.publish(try request("LV", "latvia", names: ["en": "Europe/Latvia", "de": "Europa/Lettland"]))
        _ = try catalog.publish(try request("EE", "estonia"))
        #expect(
            try listText() == """
                {
                  "packages" : [
                    {
                      "agg_tiles_hash" : "D41D8CD98F00B204E9800998ECF8427E",
                      "id" : "EE",
                      "metainfo" : {
                        "name_en" : "Europe/Estonia"
                      },
                      "sha256" : "\(Digest(of: Array("estonia".utf8)))",
                      "size" : 7,
                      "tile_mask" : "QAAA:14",
                      "url" : "https://maps.example/offline/packages/1/EE.mbtiles",
                      "version" : 1
                    },
                    {
                      "agg_tiles_hash" : "D41D8CD98F00B204E9800998ECF8427E",
                      "id" : "LV",
                      "metainfo" : {
                        "name_de" : "Europa/Lettland",
                        "name_en" : "Europe/Latvia"
                      },
                      "sha256" : "\(Digest(of: Array("latvia".utf8)))",
                      "size" : 6,
                      "tile_mask" : "QAAA:14",
                      "url" : "https://maps.example/offline/packages/1/LV.mbtiles",
                      "version" : 1
                    }
                  ]
                }

                """)
        #expect(try catalog.verify().isVerified)
        #expect(try catalog.verify().bytes == 13)
    }

    @Test func otherBytesMakeANewVersionAndKeepTheOldFile() throws {
        let first = try catalog.publish(try request("EE", "one"))
        let second = try catalog.publish(try request("EE", "two"))
        #expect(first.version == 1 && second.version == 2 && !first.unchanged && !second.unchanged)
        #expect(try Data(contentsOf: first.path) == Data("one".utf8))
        #expect(try Data(contentsOf: second.path) == Data("two".utf8))
        #expect(second.path.path.hasSuffix("catalog/packages/2/EE.mbtiles"))
        let entries = try catalog.packages()
        #expect(entries.count == 1 && entries[0].version == 2 && entries[0].path == "packages/2/EE.mbtiles")
        // Going back to earlier bytes is a new version as well: versions only grow.
        #expect(try catalog.publish(try request("EE", "one")).version == 3)
    }

    @Test func theSameBytesChangeNothing() throws {
        _ = try catalog.publish(try request("EE", "one"))
        let before = try FileManager.default.attributesOfItem(atPath: scratch.file("catalog/packages.json").path)
        let again = try catalog.publish(try request("EE", "one"))
        let after = try FileManager.default.attributesOfItem(atPath: scratch.file("catalog/packages.json").path)
        #expect(again.unchanged && again.version == 1)
        #expect(before[.systemFileNumber] as? Int == after[.systemFileNumber] as? Int)
        // A better name is published without a new download.
        #expect(try catalog.publish(try request("EE", "one", names: ["en": "Eesti"])).version == 1)
        #expect(try catalog.packages().first?.metainfo == ["name_en": "Eesti"])
    }

    @Test func theTilesetIsKeptByVersionsThatTellNone() throws {
        var first = try request("EE", "one")
        first.tileset = "streets"
        _ = try catalog.publish(first)
        #expect(try catalog.publish(try request("EE", "two")).version == 2)
        #expect(try catalog.packages().map(\.tileset) == ["streets"])
        var other = try request("EE", "three")
        other.tileset = "satellite"
        let error = #expect(throws: CatalogError.self) { try catalog.publish(other) }
        #expect(error?.code == .otherTileset)
        #expect(try catalog.packages().map(\.version) == [2])
        // An explicit replacement is accepted.
        other.tileset = ""
        other.options.replacesTileset = true
        #expect(try catalog.publish(other).version == 3)
        #expect(try catalog.packages().map(\.tileset) == [nil])
    }

    @Test func theFileIsLinkedAndALostOneIsPutBack() throws {
        let published = try catalog.publish(try request("EE", "one"))
        let blob = try FileManager.default.attributesOfItem(atPath: scratch.file("blob-one").path)
        let listed = try FileManager.default.attributesOfItem(atPath: published.path.path)
        #expect(blob[.systemFileNumber] as? Int == listed[.systemFileNumber] as? Int)
        try FileManager.default.removeItem(at: published.path)
        #expect(try catalog.verify().problems.map(\.code) == ["missing-file"])
        #expect(try catalog.publish(try request("EE", "one")).unchanged)
        #expect(try catalog.verify().isVerified)
    }

    @Test func aFileOnAnotherFileSystemIsCopied() throws {
        let memory = URL(fileURLWithPath: "/dev/shm/packhorse-\(UUID().uuidString)")
        guard FileManager.default.isWritableFile(atPath: "/dev/shm") else {
            print("skipped: there is no /dev/shm to stand for another file system")
            return
        }
        defer { try? FileManager.default.removeItem(at: memory) }
        let text = String(repeating: "x", count: 3_000_000)
        try Data(text.utf8).write(to: memory)
        let published = try catalog.publish(
            PublishRequest(
                id: "EE", file: memory, digest: Digest(of: Array(text.utf8)), size: 3_000_000, maskWire: "QAAA:14",
                names: ["en": "x"], tilesHash: ""))
        #expect(try Data(contentsOf: published.path) == Data(text.utf8))
        #expect(try catalog.verify().isVerified)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: scratch.file("catalog/packages/1").path) == [
                "EE.mbtiles"
            ])
    }

    /// A process that died after it placed a file and before it wrote the list.
    @Test func aVersionWithoutAListIsNeverGivenOtherBytes() throws {
        let folder = scratch.file("catalog/packages/1")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("left".utf8).write(to: folder.appendingPathComponent("EE.mbtiles"))
        #expect(try catalog.publish(try request("EE", "left")).version == 1)
        try Data("left".utf8).write(to: folder.appendingPathComponent("LV.mbtiles"))
        #expect(try catalog.publish(try request("LV", "other")).version == 2)
        #expect(try Data(contentsOf: folder.appendingPathComponent("LV.mbtiles")) == Data("left".utf8))
    }

    @Test func whatClientsCouldNotReadIsRefused() throws {
        let before = try listText()
        for id in ["", ".EE", "a/b", "..", "a b", "ä", String(repeating: "a", count: 121)] {
            let error = #expect(throws: CatalogError.self) { try catalog.publish(try request(id, "x")) }
            #expect(error?.code == .badRequest, "\(id)")
        }
        for mask in ["QAAA", ":14", "QAAA:", "QAAA:23", "QAAA:1:2"] {
            #expect(throws: CatalogError.self) { try catalog.publish(try request("EE", "x", mask: mask)) }
        }
        let wrong = #expect(throws: CatalogError.self) { try catalog.publish(try request("EE", "x", size: 2)) }
        #expect(wrong?.code == .badFile)
        for base in ["", "maps.example", "ftp://a/", "http://a/?x=1", "http://a b/"] {
            #expect(throws: CatalogError.self) { try Catalog(scratch.file("catalog"), create: true, baseURL: base) }
        }
        #expect(try listText() == before)
        #expect(try catalog.publish(try request("bbox(24.5,59.3,25.0,59.5)", "x")).version == 1)
    }

    @Test func aChangedFileIsFound() throws {
        let published = try catalog.publish(try request("EE", "one"))
        try Data("two".utf8).write(to: published.path)
        #expect(try catalog.verify().problems.map(\.code) == ["wrong-digest"])
        try Data("more".utf8).write(to: published.path)
        #expect(try catalog.verify().problems.map(\.code) == ["wrong-size", "wrong-digest"])
    }

    @Test func aBrokenListIsLeftAlone() throws {
        for text in ["", "{", "[]", #"{"packages":[{"id":"EE"}]}"#, #"{"packages":[null]}"#] {
            try Data(text.utf8).write(to: scratch.file("catalog/packages.json"))
            let error = #expect(throws: CatalogError.self) { try catalog.publish(try request("EE", "x")) }
            #expect(error?.code == .corrupt)
            #expect(try listText() == text)
        }
    }

    @Test func aCatalogIsOnlyMadeWhenAsked() throws {
        let error = #expect(throws: CatalogError.self) { try Catalog(scratch.file("none"), create: false) }
        #expect(error?.code == .missing)
        _ = try catalog.publish(try request("EE", "one"))
        let moved = try Catalog(scratch.file("catalog"), create: true, baseURL: "http://other/")
        #expect(try moved.packages().count == 1)
        _ = try moved.publish(try request("LV", "two"))
        #expect(
            try moved.packages().map(\.url) == [
                "http://other/packages/1/EE.mbtiles", "http://other/packages/1/LV.mbtiles",
            ])
    }

    @Test func publishersTakeTurns() async throws {
        let requests = try (0..<24).map { try request("P\($0 % 8)", "text \($0)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for request in requests { group.addTask { [catalog] in _ = try catalog.publish(request) } }
            try await group.waitForAll()
        }
        let entries = try catalog.packages()
        #expect(entries.map(\.id) == (0..<8).map { "P\($0)" })
        #expect(entries.allSatisfy { $0.version == 3 })
        #expect(try catalog.verify().isVerified)
    }
}
