import CatalogFormat
import Errors
import Foundation
import Testing

@testable import Catalog

/// Packages that are published in one change: all of them, or none.
struct TogetherTests {
    private let scratch: Scratch
    private let key = CatalogSecretKey()

    init() throws { scratch = try Scratch() }

    private func live(_ name: String) throws -> Catalog {
        let catalog = try Catalog(
            scratch.file(name), create: true, baseURL: "https://maps.example/", signingKey: key, keepVersions: 3)
        for id in ["EE", "LV"] { _ = try catalog.publish(try request(id, "old \(id) with many bytes")) }
        return catalog
    }

    private func request(_ id: String, _ text: String) throws -> PublishRequest {
        var request = try scratch.request(id, text)
        request.options.together = true
        return request
    }

    private func requests() throws -> [PublishRequest] {
        try ["EE", "LV", "LT"].map { try request($0, "new \($0) with many bytes") }
    }

    private func reason(_ refused: RefusedTogether?) -> String {
        (refused?.refusals.first?.error as? CatalogError)?.message ?? ""
    }

    private func listed(_ catalog: Catalog) throws -> [String] {
        try catalog.packages().map { "\($0.id) \($0.version)" }
    }

    @Test func allAreListedInOneChange() throws {
        let catalog = try live("live")
        let sequence = try #require(try catalog.index().sequence)
        let published = try catalog.publishTogether(try requests())
        #expect(published.map(\.version) == [2, 2, 1] && published.allSatisfy { !$0.unchanged })
        #expect(try listed(catalog) == ["EE 2", "LT 1", "LV 2"])
        #expect(try catalog.index().sequence == sequence + 3)
        #expect(!catalog.hasOpenChange)
        let before = try scratch.text("live/catalog.json")
        #expect(try catalog.publishTogether(try requests()).allSatisfy(\.unchanged))
        #expect(try scratch.text("live/catalog.json") == before, "publishing again changes nothing")
        #expect(try catalog.verify().isVerified)
    }

    @Test func oneThatIsRefusedRefusesAll() throws {
        let catalog = try live("live")
        let before = try ["catalog.json", "packages.json"].map { try scratch.text("live/\($0)") }
        var all = try requests()
        all[1] = try request("LV", "x")
        _ = try catalog.publish(try request("FI", "fi"))
        let withFinland = try scratch.text("live/catalog.json")
        #expect(withFinland != before[0])
        let refused = #expect(throws: RefusedTogether.self) { try catalog.publishTogether(all) }
        #expect(refused?.refusals.map(\.place) == [1])
        #expect((refused?.refusals.first?.error as? CatalogError)?.code == .packageShrunk)
        #expect(try scratch.text("live/catalog.json") == withFinland)
        #expect(try listed(catalog) == ["EE 1", "FI 1", "LV 1"])
        let files = try FileManager.default.subpathsOfDirectory(atPath: scratch.file("live").path)
        #expect(!files.contains { $0.hasPrefix("packages/2/") }, "no file of a refused change stays")
        #expect(try catalog.publishTogether(try requests()).map(\.version) == [2, 2, 1])
        #expect(try catalog.verify().isVerified)
    }

    /// What is found only when its file is read leaves nothing behind either.
    @Test func aDamagedFileLeavesNoFilesOfOthers() throws {
        let catalog = try live("live")
        var all = try requests()
        try Data("other bytes, as many".utf8).write(to: all[2].file)
        all[2].options.allowsShrink = true
        let refused = #expect(throws: RefusedTogether.self) { try catalog.publishTogether(all) }
        #expect(refused?.refusals.map(\.place) == [2])
        #expect((refused?.refusals.first?.error as? CatalogError)?.code == .badFile)
        let files = try FileManager.default.subpathsOfDirectory(atPath: scratch.file("live").path)
        #expect(
            files.filter { $0.hasSuffix(".mbtiles") }.sorted() == ["packages/1/EE.mbtiles", "packages/1/LV.mbtiles"])
        #expect(try listed(catalog) == ["EE 1", "LV 1"] && catalog.verify().isVerified)
    }

    @Test func theLossOfAttributionOrLayersRefusesAll() throws {
        let catalog = try live("live")
        var credited = try request("EE", "old with its attribution")
        (credited.attribution, credited.layers) = ("© A", ["roads", "water"])
        _ = try catalog.publish(credited)
        var all = try requests()
        let bare = #expect(throws: RefusedTogether.self) { try catalog.publishTogether(all) }
        #expect(reason(bare).contains("attribution"))
        (all[0].attribution, all[0].layers) = ("© A", ["roads"])
        let thin = #expect(throws: RefusedTogether.self) { try catalog.publishTogether(all) }
        #expect(reason(thin).contains("water"))
        #expect(try listed(catalog) == ["EE 2", "LV 1"])
    }

    /// Whatever number of documents was written before the process died, the whole change follows, and publishing again
    /// changes nothing.
    @Test func aChangeThatWasBegunIsCompleted() throws {
        let whole = try live("whole")
        _ = try whole.publishTogether(try requests())
        let documents = ["catalog.json", "packages.json", "versions.json"]
        let expected = try documents.map { try scratch.text("whole/\($0)") }
        for written in 0...3 {
            let name = "live-\(written)"
            let catalog = try live(name)
            let before = try scratch.text("\(name)/catalog.json")
            var changes: [CatalogEdition: CatalogChange] = [:]
            for request in try requests() { _ = try catalog.add(request, to: &changes) }
            #expect(try scratch.text("\(name)/catalog.json") == before)
            let journal = try catalog.journal(of: changes, try catalog.promotionRecord())
            try catalog.begin(journal)
            for document in journal.documents.prefix(written) {
                guard let content = document.content else { continue }
                try Data(content.utf8).write(to: catalog.folder.appending(path: document.path))
            }
            #expect(try scratch.text("\(name)/catalog.json") == before, "clients see the old catalog")
            let next = try Catalog(catalog.folder, create: false, signingKey: key, keepVersions: 3)
            #expect(try next.publishTogether(try requests()).allSatisfy(\.unchanged))
            #expect(try documents.map { try scratch.text("\(name)/\($0)") } == expected, "\(written) were written")
            #expect(try next.verify().isVerified && !next.hasOpenChange)
        }
    }

    /// A change that cannot be ended now is no refusal: it will be listed.
    @Test func aChangeThatCannotEndIsNoRefusal() throws {
        let catalog = try live("live")
        // The mark of a stale index cannot be made where a folder lies.
        let folder = scratch.file("live/.index-stale")
        try FileManager.default.createDirectory(at: folder.appending(path: "x"), withIntermediateDirectories: true)
        #expect(throws: BegunChange.self) { try catalog.publishTogether(try requests()) }
        #expect(catalog.hasOpenChange)
        try FileManager.default.removeItem(at: folder)
        #expect(try catalog.publishTogether(try requests()).map(\.version) == [2, 2, 1])
        #expect(try listed(catalog) == ["EE 2", "LT 1", "LV 2"])
        #expect(try catalog.verify().isVerified && !catalog.hasOpenChange)
    }

    /// What the last promotion did can still be undone.
    @Test func aPromotionIsRememberedOn() throws {
        let catalog = try live("live")
        let staging = try Catalog(scratch.file("staging"), create: true)
        _ = try staging.publish(try request("EE", "promoted with many bytes"))
        try catalog.apply(try catalog.planPromotion(of: CatalogSelection(), from: staging))
        _ = try catalog.publishTogether([try request("LT", "lt")])
        try catalog.apply(try catalog.planRollback())
        #expect(try listed(catalog) == ["EE 3", "LT 1", "LV 1"])
        #expect(try scratch.text("live/packages/3/EE.mbtiles") == "old EE with many bytes")
    }
}
