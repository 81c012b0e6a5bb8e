import Errors
import Files
import Foundation
import Testing

@testable import Catalog
@testable import CatalogFormat

/// A change that is made as a whole is completed by whoever changes the catalog next.
struct JournalTests {
    private let scratch: Scratch
    private let key = CatalogSecretKey()
    private let staging: Catalog
    private let editions: [CatalogEdition]

    init() throws {
        scratch = try Scratch()
        staging = try Catalog(scratch.file("staging"), create: true)
        editions = [.main, try CatalogEdition(language: "de")]
        for edition in editions {
            for id in ["EE", "LV"] { try publish(id, "new-\(id)-\(edition)", edition, to: staging) }
        }
    }

    private func publish(_ id: String, _ text: String, _ edition: CatalogEdition, to catalog: Catalog) throws {
        var request = try scratch.request(id, text)
        request.options.edition = edition
        request.options.allowsShrink = true
        _ = try catalog.publish(request)
    }

    private func live(_ name: String) throws -> Catalog {
        let catalog = try Catalog(
            scratch.file(name), create: true, baseURL: "https://maps.example/", signingKey: key, keepVersions: 3)
        for edition in editions { try publish("EE", "old-\(edition)", edition, to: catalog) }
        return catalog
    }

    private func plan(_ catalog: Catalog) throws -> CatalogPlan {
        try catalog.planPromotion(of: CatalogSelection(), from: staging)
    }

    private func documents(_ name: String) throws -> [String] {
        try [
            "catalog.json", "packages.json", "versions.json", "de/packages.json", "de/versions.json", "promotion.json",
        ]
        .map { try scratch.text("\(name)/\($0)") }
    }

    /// Whatever number of lists was written, the result is the same, byte for byte.
    @Test func aChangeThatWasBegunIsCompleted() throws {
        let whole = try live("whole")
        let before = try scratch.text("whole/catalog.json")
        try whole.apply(try plan(whole))
        let expected = try documents("whole")
        #expect(expected[0] != before && !whole.hasOpenChange)
        for written in 0...5 {
            let name = "live-\(written)"
            let catalog = try live(name)
            let made = try catalog.prepare(try plan(catalog))
            let journal = try catalog.journal(of: made.changes, made.record)
            #expect(
                journal.documents.map(\.path) == [
                    "versions.json", "packages.json", "de/versions.json", "de/packages.json", "promotion.json",
                ])
            try catalog.begin(journal)
            for document in journal.documents.prefix(written) {
                try Data((document.content ?? "").utf8).write(to: catalog.folder.appending(path: document.path))
            }
            #expect(try scratch.text("\(name)/catalog.json") == before, "clients see the old catalog")
            let next = try Catalog(catalog.folder, create: false, signingKey: key, keepVersions: 3)
            #expect(try next.settle())
            #expect(try documents(name) == expected, "\(written) lists were written")
            #expect(try !next.settle() && next.verify().isVerified)
            #expect(try plan(next).isEmpty, "the repeated command finds it done")
        }
    }

    /// Everyone who changes the catalog completes it first: no change is built on half of another one.
    @Test func aPublicationCompletesItFirst() throws {
        let catalog = try live("live")
        let made = try catalog.prepare(try plan(catalog))
        try catalog.begin(try catalog.journal(of: made.changes, made.record))
        try publish("LT", "lt", .main, to: try Catalog(catalog.folder, create: false, signingKey: key))
        #expect(try catalog.packages().map { "\($0.id) \($0.version)" } == ["EE 2", "LT 1", "LV 1"])
        #expect(try catalog.packages(in: editions[1]).map { "\($0.id) \($0.version)" } == ["EE 2", "LV 1"])
        #expect(try catalog.verify().isVerified)
    }

    /// A rollback that was interrupted, or whose answer was lost, is not done twice.
    @Test func anInterruptedRollbackIsNotDoneTwice() throws {
        let catalog = try live("live")
        try catalog.apply(try plan(catalog))
        let made = try catalog.prepare(try catalog.planRollback())
        try catalog.begin(try catalog.journal(of: made.changes, made.record))
        for _ in 0..<2 {
            let again = try catalog.planRollback()
            #expect(again.isEmpty && !catalog.hasOpenChange)
            #expect(try catalog.packages().map { "\($0.id) \($0.version)" } == ["EE 3"])
        }
        #expect(try scratch.text("live/packages/3/EE.mbtiles") == "old-main")
    }

    /// What only reports neither completes a change nor needs the key.
    @Test func aDryRunWritesNothing() throws {
        let catalog = try live("live")
        let made = try catalog.prepare(try plan(catalog))
        try catalog.begin(try catalog.journal(of: made.changes, made.record))
        let before = try scratch.text("live/packages.json")
        let keyless = try Catalog(catalog.folder, create: false)
        _ = try keyless.prune(keep: 1, dryRun: true)
        _ = try keyless.remove(["EE"], dryRun: true)
        _ = try keyless.planRollback(of: CatalogSelection(["EE"]), to: 1, settles: false)
        #expect(try scratch.text("live/packages.json") == before && catalog.hasOpenChange)
    }

    /// A change that fails after it has become certain says so.
    @Test func aFailureAfterTheBeginSaysWhatFollows() throws {
        let catalog = try live("live")
        let planned = try plan(catalog)
        // The record cannot be written where a folder lies.
        let folder = scratch.file("live/promotion.json")
        try FileManager.default.createDirectory(at: folder.appending(path: "x"), withIntermediateDirectories: true)
        let error = #expect(throws: CatalogError.self) { try catalog.apply(planned) }
        #expect(error?.message.contains("had begun") == true && error?.hint?.contains("rollback") == true)
        try FileManager.default.removeItem(at: folder)
        #expect(try catalog.settle())
        #expect(try catalog.packages().map { "\($0.id) \($0.version)" } == ["EE 2", "LV 1"])
        #expect(try catalog.verify().isVerified)
    }

    @Test func withoutItsKeyASignedCatalogWaits() throws {
        let catalog = try live("live")
        let made = try catalog.prepare(try plan(catalog))
        try catalog.begin(try catalog.journal(of: made.changes, made.record))
        let keyless = try Catalog(catalog.folder, create: false)
        let error = #expect(throws: CatalogError.self) { try keyless.settle() }
        #expect(error?.code == .signingKey && catalog.hasOpenChange)
    }

    @Test(arguments: ["{", #"{"documents":[{"path":"../packages.json","content":"x"}]}"#])
    func aJournalOfSomethingElseIsRefused(_ text: String) throws {
        let catalog = try live("live")
        try Data(text.utf8).write(to: catalog.folder.appending(path: Catalog.journalName))
        let before = try scratch.text("live/packages.json")
        let error = #expect(throws: CatalogError.self) { try publish("LT", "lt", .main, to: catalog) }
        #expect(error?.code == .corrupt && error?.message.contains("Remove it") == true)
        #expect(try scratch.text("live/packages.json") == before)
    }
}
