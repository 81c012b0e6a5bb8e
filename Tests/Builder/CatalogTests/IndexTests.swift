import Digests
import Errors
import Files
import Foundation
import Testing
import Tiles

@testable import Catalog
@testable import CatalogFormat

struct IndexTests {
    let scratch: Scratch
    let catalog: Catalog

    init() throws {
        scratch = try Scratch()
        catalog = try Catalog(scratch.file("catalog"), create: true, baseURL: "https://maps.example/", keepVersions: 3)
    }

    private func read() throws -> CatalogIndex {
        try CatalogIndex(decoding: Array(try Data(contentsOf: scratch.file("catalog/catalog.json"))))
    }

    @Test func theTreeLeadsToThePackagesAndNowhereElse() throws {
        var request = try scratch.request("EE", "one")
        request.attribution = "© them"
        request.zooms = ZoomRange(min: 0, max: 14)
        request.files = [try scratch.other("pmtiles", "pm")]
        _ = try catalog.publish(request)
        _ = try catalog.publish(try scratch.request("bbox(24,59,25,60)", "box"))
        var german = try scratch.request("EE", "deutsch")
        german.options.edition = try CatalogEdition(group: "terrain", language: "de")
        _ = try catalog.publish(german)

        let index = try read()
        #expect(index.format == "packhorse-catalog" && index.formatVersion == 1)
        #expect(index.limits.tilePacksPerDevice == 750)
        #expect(index.tree.map(\.id) == ["001", "150", "154", "EE"])
        #expect(index.tree.map(\.kind) == ["world", "continent", "subcontinent", "country"])
        #expect(index.tree.map(\.parent) == [nil, "001", "150", "154"])
        #expect(index.tree.last?.names["de"] == "Estland" && index.tree.last?.names["et"] == "Eesti")
        #expect(index.editions.map(\.path) == ["", "groups/terrain/de/"])
        #expect(index.editions[0].sizes == ["mbtiles": 6, "pmtiles": 2])
        #expect(index.editions[1].group == "terrain" && index.editions[1].language == "de")
        #expect(index.packages.map(\.id) == ["EE", "bbox(24,59,25,60)", "EE"])
        #expect(index.packages.map(\.region) == ["EE", nil, "EE"])
        let version = try #require(index.package("EE", in: .main)?.versions.first)
        #expect(version.attribution == "© them" && version.minZoom == 0 && version.maxZoom == 14)
        #expect(version.files.map(\.url) == ["packages/1/EE.mbtiles", "packages/1/EE.pmtiles"])
        #expect(version.file("pmtiles")?.sha256 == Digest(of: Array("pm".utf8)).hex)
        #expect(index.packages[2].versions[0].files[0].url == "groups/terrain/de/packages/1/EE.mbtiles")
    }

    @Test func theBytesAreAFunctionOfWhatIsPublished() throws {
        let other = try Catalog(
            scratch.file("other"), create: true, baseURL: "https://maps.example/", keepVersions: 3)
        for text in ["one", "two"] { _ = try catalog.publish(try scratch.request("EE", text)) }
        _ = try catalog.publish(try scratch.request("LV", "three"))
        _ = try other.publish(try scratch.request("LV", "three"))
        for text in ["one", "two"] { _ = try other.publish(try scratch.request("EE", text)) }
        let (one, two) = (try scratch.text("catalog/catalog.json"), try scratch.text("other/catalog.json"))
        #expect(one == two)
        #expect(!one.contains("maps.example"))
        let list = Digest(of: try Data(contentsOf: scratch.file("catalog/packages.json"))).hex
        #expect(try read().editions.map(\.list.sha256) == [list])
        #expect(try read().encoded() == Array(one.utf8))
    }

    @Test func versionsAreKeptByPolicyAndTheirFilesGoWithThem() throws {
        for text in ["a", "b", "c", "d"] {
            var request = try scratch.request("EE", text)
            request.files = [try scratch.other("pmtiles", "pm \(text)")]
            _ = try catalog.publish(request)
        }
        _ = try catalog.publish(try scratch.request("LV", "latvia"))
        #expect(try read().package("EE", in: .main)?.versions.map(\.version) == [4, 3, 2])
        #expect(
            try read().package("EE", in: .main)?.versions[1].files.map(\.sha256) == [
                Digest(of: Array("c".utf8)).hex, Digest(of: Array("pm c".utf8)).hex,
            ])
        #expect(!FileManager.default.fileExists(atPath: scratch.file("catalog/packages/1/EE.mbtiles").path))
        #expect(!FileManager.default.fileExists(atPath: scratch.file("catalog/packages/1/EE.pmtiles").path))
        #expect(FileManager.default.fileExists(atPath: scratch.file("catalog/packages/1/LV.mbtiles").path))
        #expect(FileManager.default.fileExists(atPath: scratch.file("catalog/packages/2/EE.mbtiles").path))
        #expect(try catalog.verify().isVerified)
    }

    @Test func aCatalogOfAnEarlierBuildGetsItsIndex() throws {
        _ = try catalog.publish(try scratch.request("EE", "one"))
        let expected = try scratch.text("catalog/catalog.json")
        try FileManager.default.removeItem(at: scratch.file("catalog/catalog.json"))
        _ = try Catalog(scratch.file("catalog"), create: true)
        #expect(try scratch.text("catalog/catalog.json") == expected)
        // A process that died between list and index.
        try Data("{}".utf8).write(to: scratch.file("catalog/catalog.json"))
        _ = try Catalog(scratch.file("catalog"), create: true)
        #expect(try scratch.text("catalog/catalog.json") == expected)
    }

    @Test func foreignDocumentsAreReadWithCare() throws {
        var request = try scratch.request("EE", "one")
        request.tileset = "streets"
        _ = try catalog.publish(request)
        _ = try catalog.publish(try scratch.request("EE", "two"))
        let text = try scratch.text("catalog/catalog.json")
        #expect(throws: Never.self) { try CatalogIndex(decoding: Array(text.utf8)) }
        let digest = Digest(of: Array("two".utf8)).hex
        for (old, new) in [
            (#""packhorse-catalog""#, #""other""#), (#""format_version" : 1"#, #""format_version" : 2"#),
            (#""id" : "EE""#, #""id" : "../EE""#), (#""url" : "packages/2/EE.mbtiles""#, #""url" : "../EE.mbtiles""#),
            (#""url" : "packages/2/EE.mbtiles""#, #""url" : "/etc/passwd""#),
            (#""url" : "packages/2/EE.mbtiles""#, #""url" : "http://evil/EE""#),
            (#""url" : "packages/2/EE.mbtiles""#, #""url" : "packages//EE""#),
            (#""size" : 3"#, #""size" : -3"#), (#""size" : 3"#, #""size" : 1e30"#), (digest, "\(digest.dropLast())"),
            (digest, digest.uppercased()), (#""version" : 2"#, #""version" : 1"#),
            (#""version" : 1"#, #""version" : 0"#),
            (#""edition" : """#, #""edition" : "de/""#), (#""path" : """#, #""path" : "de/""#),
            (#""url" : "packages.json""#, #""url" : "other.json""#), (#""format" : "mbtiles""#, #""format" : "x""#),
            ("\"packages\"", "\"pakages\""), ("{", ""),
        ] {
            let changed = text.replacingOccurrences(of: old, with: new)
            #expect(changed != text, "\(old)")
            let error = #expect(throws: CatalogError.self, "\(new)") {
                try CatalogIndex(decoding: Array(changed.utf8))
            }
            #expect([.corrupt, .badRequest].contains(error?.code), "\(new)")
        }
    }
}
