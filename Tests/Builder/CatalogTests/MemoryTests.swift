import Digests
import Errors
import Files
import Foundation
import Testing

@testable import Catalog
@testable import CatalogFormat

/// What a catalog keeps between operations: that it saves the work, that it changes no byte, and that it is never trusted blindly.
struct MemoryTests {
    let scratch: Scratch
    let catalog: Catalog

    init() throws {
        scratch = try Scratch()
        catalog = try Catalog(scratch.file("catalog"), create: true, baseURL: "https://maps.example/", keepVersions: 3)
    }

    private func file(_ path: String) -> URL { scratch.file("catalog/\(path)") }

    private func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: file(path))) }

    private func publish(_ count: Int, _ text: String = "first") throws {
        let requests = try (0..<count).map { try scratch.request("P\($0)", text) }
        for result in catalog.publish(requests) { _ = try result.get() }
    }

    /// Another process: a catalog that has kept nothing.
    private func other(_ keep: Int? = 3) throws -> Catalog {
        try Catalog(scratch.file("catalog"), create: false, keepVersions: keep)
    }

    /// Every document as an encoder writes it that knows nothing of earlier writings.
    private func expectWholeEncoding(_ comment: Comment? = nil) throws {
        let fresh = try other()
        for edition in try fresh.editions() {
            #expect(
                try bytes(edition.path + "packages.json") == CatalogJSON.encode(fresh.list(edition), named: ""), comment
            )
            if FileManager.default.fileExists(atPath: file(edition.path + "versions.json").path) {
                #expect(
                    try bytes(edition.path + "versions.json") == CatalogJSON.encode(fresh.history(edition), named: ""),
                    comment)
            }
        }
        #expect(try bytes("catalog.json") == fresh.index().encoded(), comment)
        #expect(try catalog.index() == fresh.index(), comment)
    }

    @Test func onePackageMoreEncodesThatOne() throws {
        try publish(300)
        // What the first attempt after a start has to read and encode, this one has already.
        let (decodings, encodings) = (catalog.memory.decodings, catalog.memory.encodings)
        for number in 0..<5 { _ = try catalog.publish(try scratch.request("N\(number)", "new")) }
        #expect(catalog.memory.decodings == decodings, "no list is read again")
        #expect(catalog.memory.encodings - encodings == 10, "each in packages.json and in catalog.json")
        // A new version of one: both entries, and the one before in versions.json.
        _ = try catalog.publish(try scratch.request("P7", "second"))
        #expect(catalog.memory.decodings == decodings && catalog.memory.encodings - encodings == 13)
        // What is asked at a submission is known too.
        try catalog.check(["P1"], of: "streets")
        #expect(try catalog.packages().count == 305 && catalog.files(of: "P1").count == 1)
        #expect(catalog.memory.decodings == decodings)
        try expectWholeEncoding()
    }

    @Test func theBytesAreThoseOfTheWholeDocument() throws {
        try expectWholeEncoding("empty")
        let terrain = try CatalogEdition(group: "terrain", language: "de")
        var state: UInt64 = 7
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let ids = ["EE", "LV", "DE", "DE-BY", "bbox(1,2,3,4)", "a", "b", "zz", "EE.carto"]
        for step in 0..<60 {
            let id = ids[random(ids.count)]
            switch random(10) {
            case 0: _ = try? catalog.remove([id], dryRun: false)
            case 1: _ = try catalog.prune(keep: 1 + random(3), dryRun: false)
            case 2: _ = try? other(2).remove([id], dryRun: false)
            default:
                var request = try scratch.request(
                    id, "text \(random(12))", names: ["en": "Quote \" back\\slash / \u{1F5FA}", "et": "Õ"])
                // Versions without an attribution follow versions with one.
                request.options.allowsShrink = true
                if random(3) == 0 { request.options.edition = terrain }
                if random(3) == 0 { request.files = [try scratch.other("pmtiles", "pm \(random(4))")] }
                if random(3) == 0 { request.attribution = "© a\n  \"packages\" : [\n\n  ]" }
                if random(4) == 0 {
                    request.tilePacks = PublishedPacks(
                        list: Array(#"{"tileset":"demo","packs":[],"step":\#(step)}"#.utf8), files: [])
                }
                if random(5) == 0 {
                    request.nodes = [.init(id: id, parent: "EE", kind: "region", names: ["en": "Node of \(id)"])]
                }
                _ = try (random(4) == 0 ? other() : catalog).publish(request)
            }
            try expectWholeEncoding("step \(step)")
        }
        #expect(try catalog.verify().isVerified)
    }

    @Test func whatOthersDidMeanwhileIsSeenAndKept() throws {
        try publish(3)
        let stranger = try other()
        _ = try stranger.publish(try scratch.request("IMPORTED", "import"))
        _ = try stranger.publish(try scratch.request("P0", "second"))
        _ = try catalog.publish(try scratch.request("MINE", "mine"))
        #expect(try catalog.packages().map(\.id) == ["IMPORTED", "MINE", "P0", "P1", "P2"])
        #expect(try catalog.packages().first { $0.id == "P0" }?.version == 2)
        _ = try stranger.remove(["P1"], dryRun: false)
        _ = try catalog.publish(try scratch.request("P0", "third"))
        #expect(try catalog.packages().map(\.id) == ["IMPORTED", "MINE", "P0", "P2"])
        #expect(try catalog.index().package("P0", in: .main)?.versions.map(\.version) == [3, 2, 1])
        _ = try stranger.prune(keep: 1, dryRun: false)
        _ = try catalog.publish(try scratch.request("P2", "second"))
        #expect(try catalog.index().package("P0", in: .main)?.versions.map(\.version) == [3])
        #expect(try catalog.index().package("P2", in: .main)?.versions.map(\.version) == [2, 1])
        try expectWholeEncoding()
    }

    /// Changed in place, with the same length, immediately: only the bytes differ.
    private func replace(_ old: String, _ new: String, in path: String) throws {
        var all = try bytes(path)
        let (old, new) = (Array(old.utf8), Array(new.utf8))
        let place = try #require(all.indices.first { all[$0...].starts(with: old) })
        all.replaceSubrange(place..<(place + old.count), with: new)
        let handle = try FileHandle(forWritingTo: file(path))
        try handle.write(contentsOf: all)
        try handle.close()
    }

    @Test func listsEditedByHandAreSeenAndKept() throws {
        try publish(3)
        _ = try catalog.publish(try scratch.request("P0", "second"))
        try replace("Europe/Estonia", "Europe/Finland", in: "packages.json")
        try replace("Europe/Estonia", "Europe/Denmark", in: "versions.json")
        _ = try catalog.publish(try scratch.request("P1", "second"))
        let packages = try catalog.packages()
        #expect(packages.first { $0.id == "P0" }?.metainfo == ["name_en": "Europe/Finland"])
        #expect(try catalog.history(.main).packages.first?.metainfo == ["name_en": "Europe/Denmark"])
        try expectWholeEncoding()
        // A list that became unreadable is left as it is.
        try replace("\"packages\"", "\"packagez\"", in: "packages.json")
        let damaged = try bytes("packages.json")
        let error = #expect(throws: CatalogError.self) { try catalog.publish(try scratch.request("P1", "third")) }
        #expect(error?.code == .corrupt)
        #expect(try bytes("packages.json") == damaged)
        try replace("\"packagez\"", "\"packages\"", in: "packages.json")
        // catalog.json is made from the lists, whichever process wrote them.
        try replace("packhorse-catalog", "packhorse-cataloG", in: "catalog.json")
        _ = try catalog.publish(try scratch.request("P1", "third"))
        try expectWholeEncoding()
    }

    @Test func listsOfTilePacksOfOthersAreSeen() throws {
        var request = try scratch.request("EE", "one")
        request.tilePacks = PublishedPacks(list: Array(#"{"packs":[ ]}"#.utf8), files: [])
        _ = try catalog.publish(request)
        func listed() throws -> CatalogIndex.List? { try catalog.index().package("EE", in: .main)?.tilePacks }
        let first = try #require(try listed())
        try replace("[ ]", "[]\n", in: "regions/EE.json")
        #expect(try listed()?.sha256 == Digest(of: try bytes("regions/EE.json")).hex && listed() != first)
        _ = try catalog.publish(try scratch.request("LV", "two"))
        try Data("{}".utf8).write(to: file("regions/LV.json"), options: .atomic)
        #expect(try catalog.index().package("LV", in: .main)?.tilePacks?.size == 2)
        try catalog.refresh()
        try expectWholeEncoding()
        try FileManager.default.removeItem(at: file("regions"))
        #expect(try listed() == nil)
    }

    @Test func aCrashAfterEachStepHeals() throws {
        let documents = ["versions.json", "packages.json", "catalog.json.sig", "catalog.json"]
        let key = CatalogSecretKey()
        func open() throws -> Catalog {
            try Catalog(
                scratch.file("catalog"), create: true, baseURL: "https://maps.example/", signingKey: key,
                keepVersions: 3)
        }
        let living = try open()
        for text in ["one", "two"] { _ = try living.publish(try scratch.request("EE", text)) }
        _ = try living.publish(try scratch.request("LV", "one"))
        let before = try documents.map(bytes)
        let request = try scratch.request("EE", "three")
        _ = try living.publish(request)
        let after = try documents.map(bytes)
        for steps in 0...documents.count {
            for (number, path) in documents.enumerated() {
                try Data(number < steps ? after[number] : before[number]).write(to: file(path), options: .atomic)
            }
            // A reader who checks the signature is served at every step.
            let signature = try CatalogSignature(decoding: try bytes("catalog.json.sig"))
            #expect(throws: Never.self) { try signature.check(try bytes("catalog.json"), by: try key.publicKey) }
            // The one that lived on, whose memory is of after, and one that starts, both publish once more.
            for catalog in [living, try open()] {
                #expect(try catalog.publish(request).version == 3, "\(steps)")
                for (number, path) in documents.enumerated() where !path.hasSuffix(".sig") {
                    #expect(try bytes(path) == after[number], "\(path) after \(steps) steps")
                }
                let signature = try CatalogSignature(decoding: try bytes("catalog.json.sig"))
                #expect(throws: Never.self) { try signature.check(after[3], by: try key.publicKey) }
            }
        }
    }
}
