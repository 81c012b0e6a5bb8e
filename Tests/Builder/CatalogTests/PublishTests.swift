import Digests
import Errors
import Files
import Foundation
import Testing

@testable import Catalog
@testable import CatalogFormat

/// Packages that are published together, with their tile packs and regions, and styles.
struct PublishTests {
    let scratch: Scratch
    let catalog: Catalog

    init() throws {
        scratch = try Scratch()
        catalog = try Catalog(scratch.file("catalog"), create: true, baseURL: "https://maps.example/", keepVersions: 2)
    }

    private func read() throws -> CatalogIndex {
        try CatalogIndex(decoding: Array(try Data(contentsOf: scratch.file("catalog/catalog.json"))))
    }

    private func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: scratch.file("catalog/\(path)").path)
    }

    /// Writes packs with these texts, and describes them as the real code does.
    private func packs(_ texts: [String], in folder: String = "") throws -> PublishedPacks {
        let entries = try texts.map { text -> [String: Any] in
            let path = "packs/demo/0/0/0/\(text).mbtiles"
            let file = scratch.file("catalog/\(folder)\(path)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
            return [
                "index": "0/0/0", "min_zoom": 0, "max_zoom": 5, "url": "../\(path)", "size": text.utf8.count,
                "sha256": Digest(of: Array(text.utf8)).hex,
            ]
        }
        let list = try JSONSerialization.data(
            withJSONObject: ["tileset": "demo", "packs": entries], options: [.sortedKeys])
        return PublishedPacks(
            list: Array(list),
            files: texts.map {
                PublishedPacks.Pack(path: "packs/demo/0/0/0/\($0).mbtiles", size: UInt64($0.utf8.count))
            })
    }

    @Test func togetherIsAsOneByOne() throws {
        let other = try Catalog(scratch.file("other"), create: true, baseURL: "https://maps.example/", keepVersions: 2)
        var requests: [PublishRequest] = []
        for text in ["one", "two", "three", "three"] { requests.append(try scratch.request("EE", text)) }
        var terrain = try scratch.request("EE", "hills")
        terrain.options.edition = try CatalogEdition(group: "terrain")
        requests += [terrain, try scratch.request("LV", "latvia")]
        let together = try catalog.publish(requests).map { try $0.get() }
        let single = try requests.map { try other.publish($0) }
        #expect(together.map(\.version) == [1, 2, 3, 3, 1, 1] && single.map(\.version) == together.map(\.version))
        #expect(together.map(\.unchanged) == [false, false, false, true, false, false])
        for path in ["catalog.json", "packages.json", "versions.json", "groups/terrain/packages.json"] {
            #expect(try scratch.text("catalog/\(path)") == scratch.text("other/\(path)"), "\(path)")
        }
        #expect(!exists("packages/1/EE.mbtiles") && exists("packages/2/EE.mbtiles") && exists("packages/3/EE.mbtiles"))
        #expect(try catalog.verify().isVerified)
        #expect(catalog.publish([]).isEmpty)
    }

    @Test func idsThatDifferInCaseAloneAreRefused() throws {
        _ = try catalog.publish(try scratch.request("EE", "one"))
        _ = try catalog.publish(try scratch.request("EE", "two"))
        let results = catalog.publish([try scratch.request("ee", "three"), try scratch.request("LV", "four")])
        #expect { try results[0].get() } throws: { error in
            let error = error as? CatalogError
            return error?.code == .badRequest && error?.message.contains("'ee' differs from 'EE'") == true
        }
        #expect(throws: Never.self) { try results[1].get() }
        #expect(throws: CatalogError.self) { try catalog.checkCase(["lv"]) }
        // Another part of the catalog is another folder.
        var terrain = try scratch.request("ee", "hills")
        terrain.options.edition = try CatalogEdition(group: "terrain")
        #expect(try catalog.publish(terrain).version == 1)
        let both = catalog.publish([try scratch.request("a", "five"), try scratch.request("A", "six")])
        #expect(both.map { (try? $0.get()) != nil } == [true, false])
    }

    @Test func anIDThatLooksLikeAnOptionIsRefusedWithTheRule() throws {
        #expect { try catalog.publish(try scratch.request("-x", "one")) } throws: { error in
            let text = (error as? CatalogError)?.message ?? ""
            return text.contains("'-x' cannot be a package id")
                && text.contains("begin with neither a dot nor a hyphen")
        }
    }

    @Test func oneThatFailsLeavesTheOthers() throws {
        let wrong = try scratch.request("LV", "short", size: 99)
        let results = catalog.publish([
            try scratch.request("EE", "one"), wrong, try scratch.request("../up", "two"),
            try scratch.request("LT", "ok"),
        ])
        func code(_ number: Int) -> CatalogError.Code? {
            if case .failure(let error) = results[number] { error.code } else { nil }
        }
        #expect([0, 1, 2, 3].map(code) == [nil, .badFile, .badRequest, nil])
        #expect(try read().packages.map(\.id) == ["EE", "LT"])
        // Without its lists nothing is published, whatever was right.
        try Data("{".utf8).write(to: scratch.file("catalog/packages.json"))
        let none = catalog.publish([try scratch.request("EE", "two"), try scratch.request("LT", "two")])
        #expect(none.allSatisfy { if case .failure(let error) = $0 { error.code == .corrupt } else { false } })
    }

    @Test func anIndexThatCouldNotBeWrittenIsMadeUpForByTheNextAttempt() throws {
        let index = scratch.file("catalog/catalog.json")
        let request = try scratch.request("EE", "one")
        // A folder cannot be read as a file.
        try FileManager.default.removeItem(at: index)
        try FileManager.default.createDirectory(at: index, withIntermediateDirectories: true)
        let error = #expect(throws: CatalogError.self) { try catalog.publish(request) }
        #expect(error?.code == .io)
        try FileManager.default.removeItem(at: index)
        #expect(try catalog.publish(request).version == 1)
        #expect(try read().packages.map(\.id) == ["EE"])
        #expect(!exists(".index-stale"))
    }

    @Test func packsAreListedWithTheirPackageAndGoWithThePruning() throws {
        var first = try scratch.request("EE", "one")
        first.tilePacks = try packs(["aa", "shared"])
        var second = try scratch.request("LV", "latvia")
        second.tilePacks = try packs(["shared", "bb"])
        for result in catalog.publish([first, second]) { _ = try result.get() }
        let listed = try #require(try read().package("EE", in: .main)?.tilePacks)
        #expect(listed.url == "regions/EE.json" && listed.size == Int64(first.tilePacks?.list.count ?? 0))
        // Unlisted files: a pack of no region, a list of no package, an old temporary file. A recent temporary file may
        // be in use.
        _ = try packs(["lost"])
        try Data("{}".utf8).write(to: scratch.file("catalog/regions/XX.json"))
        for name in [".young.tmp", ".old.tmp"] {
            try Data("x".utf8).write(to: scratch.file("catalog/packs/demo/0/0/0/\(name)"))
        }
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -90_000)],
            ofItemAtPath: scratch.file("catalog/packs/demo/0/0/0/.old.tmp").path)
        let useless = ["packs/demo/0/0/0/.old.tmp", "packs/demo/0/0/0/lost.mbtiles", "regions/XX.json"]
        #expect(try catalog.prune(keep: 2, dryRun: true).files == useless && exists(useless[1]))
        #expect(try catalog.prune(keep: 2, dryRun: false).files == useless && !exists(useless[1]))
        #expect(exists("packs/demo/0/0/0/.young.tmp") && exists("packs/demo/0/0/0/shared.mbtiles"))
        // A new version that was not cut has no packs; those that no other region lists are of no use then.
        _ = try catalog.publish(try scratch.request("EE", "two"))
        #expect(try read().package("EE", in: .main)?.tilePacks == nil && !exists("regions/EE.json"))
        #expect(try catalog.prune(keep: 2, dryRun: false).files == ["packs/demo/0/0/0/aa.mbtiles"])
        #expect(exists("packs/demo/0/0/0/shared.mbtiles") && exists("packs/demo/0/0/0/bb.mbtiles"))
        // A list that cannot be read protects all packs.
        try Data("{".utf8).write(to: scratch.file("catalog/regions/LV.json"))
        let error = #expect(throws: CatalogError.self) { try catalog.prune(keep: 2, dryRun: false) }
        #expect(error?.code == .corrupt && exists("packs/demo/0/0/0/bb.mbtiles"))
    }

    @Test func aPackThatIsGoneIsNotListed() throws {
        var request = try scratch.request("EE", "one")
        request.tilePacks = try packs(["aa", "bb"])
        try FileManager.default.removeItem(at: scratch.file("catalog/packs/demo/0/0/0/aa.mbtiles"))
        let error = #expect(throws: CatalogError.self) { try catalog.publish(request) }
        #expect(error?.code == .io && error?.message.contains("aa.mbtiles") == true)
        #expect(try read().packages.isEmpty)
        request.tilePacks = try packs(["aa", "bb"])
        _ = try catalog.publish(request)
        // The same package with other packs: the version stays.
        request.tilePacks = try packs(["aa"])
        #expect(try catalog.publish(request).version == 1)
        #expect(try catalog.prune(keep: 2, dryRun: false).files == ["packs/demo/0/0/0/bb.mbtiles"])
    }

    @Test func theSequenceGrowsWithEveryVersion() throws {
        #expect(try read().sequence == 0)
        var last: Int64 = 0
        for (id, text) in [("EE", "one"), ("LV", "one"), ("EE", "two"), ("EE", "three")] {
            _ = try catalog.publish(try scratch.request(id, text))
            let sequence = try #require(try read().sequence)
            #expect(sequence == last + 1)
            last = sequence
        }
        _ = try catalog.publish(try scratch.request("EE", "three"))
        _ = try catalog.prune(keep: 1, dryRun: false)
        #expect(try read().sequence == last)
    }

    @Test func stylesHaveVersionsAndAreListed() throws {
        func publish(_ text: String) throws -> (version: Int32, unchanged: Bool) {
            let file = scratch.file("style-\(text)")
            try Data(text.utf8).write(to: file)
            return try catalog.publish(
                style: "streets", name: "Streets", file: file, digest: Digest(of: Array(text.utf8)),
                size: UInt64(text.utf8.count))
        }
        #expect(try read().styles == nil)
        #expect(try publish("one") == (1, false) && publish("one") == (1, true) && publish("two") == (2, false))
        let style = try #require(try read().styles?.first)
        #expect(style.url == "styles/2/streets.zip" && style.version == 2 && style.name == "Streets" && style.size == 3)
        #expect(try read().sequence == 2 && exists("styles/1/streets.zip"))
        #expect(try catalog.prune(keep: 3, dryRun: false).files == ["styles/1/streets.zip"])
        #expect(exists("styles/2/streets.zip") && !exists("styles/1"))
        // A file that is gone is put back.
        try FileManager.default.removeItem(at: scratch.file("catalog/styles/2/streets.zip"))
        #expect(try publish("two") == (2, false) && exists("styles/2/streets.zip"))
        #expect(throws: CatalogError.self) {
            try catalog.publish(
                style: "../up", name: nil, file: scratch.file("style-one"), digest: Digest(of: [1]), size: 1)
        }
    }

    @Test func importedRegionsHaveANodeBelowTheirParents() throws {
        var county = try scratch.request("EE-TARTU", "county")
        county.nodes = [
            .init(id: "EE-SOUTH", parent: "EE", kind: "region", names: ["en": "South"]),
            .init(id: "EE-TARTU", parent: "EE-SOUTH", kind: "region", names: ["en": "Tartu", "et": "Tartu"]),
        ]
        var lost = try scratch.request("XX-1", "lost")
        lost.nodes = [.init(id: "XX-1", parent: "XX", kind: "region", names: ["en": "Nowhere"])]
        for result in catalog.publish([county, lost]) { _ = try result.get() }
        let index = try read()
        #expect(index.tree.map(\.id) == ["001", "150", "154", "EE", "EE-SOUTH", "EE-TARTU"])
        #expect(index.package("EE-TARTU", in: .main)?.region == "EE-TARTU")
        // Losing the index loses nothing of that.
        let text = try scratch.text("catalog/catalog.json")
        try FileManager.default.removeItem(at: scratch.file("catalog/catalog.json"))
        _ = try Catalog(scratch.file("catalog"), create: true)
        #expect(try scratch.text("catalog/catalog.json") == text)
    }
}
