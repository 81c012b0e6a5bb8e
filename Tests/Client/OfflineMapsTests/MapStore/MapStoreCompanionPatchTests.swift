import Foundation
import TestSupport
import Testing
import Tiles

@testable import OfflineMaps

private let estonia = Item.package("EE")

/// Updates of companions by patches.
@Suite(.timeLimit(.minutes(15)))
struct MapStoreCompanionPatchTests {
    private let site: StoreSite
    private let first: [UInt8]
    private let second: [UInt8]
    private let whole = "groups/routing-valhalla/packages/2/EE.vtiles"
    private let patch = "groups/routing-valhalla/patches/EE/1-2.opaque.patch"

    init() throws {
        site = try StoreSite()
        var random = SplitMix(state: 3)
        first = random.bytes(200_000)
        // The halves change places, and some bytes change.
        var next = Array(first[100_000...] + first[..<100_000])
        next.replaceSubrange(500..<600, with: random.bytes(100))
        second = next
        try site.add("EE")
        try site.attach("EE", bytes: first)
        try site.publish()
    }

    private func installed() async throws -> MapStore {
        let store = try await site.store { $0.quota.previousVersions = 1 }
        try await store.refreshCatalog()
        let choice = CompanionChoice(with: ["routing"])
        #expect(try await store.states { try await $0.install([estonia], with: choice) } == [.done])
        return store
    }

    private func update(_ store: MapStore) async throws -> [TaskState] {
        try await store.refreshCatalog(ifOlderThan: .zero)
        return try await store.states { try await $0.update() }
    }

    private func bytes(_ store: MapStore) async throws -> [UInt8] {
        try Array(Data(contentsOf: try #require(try await store.companion("routing", of: estonia)).file))
    }

    @Test func anUpdateReceivesThePatchAndHasThePublishedFile() async throws {
        let store = try await installed()
        try site.attach("EE", version: 2, bytes: second, engine: "3.7", previous: first)
        try site.publish()
        try await store.refreshCatalog(ifOlderThan: .zero)
        let size = site.size(patch)
        #expect(size < 1_000, "\(size)")
        let planned = try #require(try await store.updates().changes.first)
        #expect(planned.companionBytes == UInt64(size) && planned.bytes == UInt64(size))
        #expect(try await update(store) == [.done])
        #expect(try await bytes(store) == second)
        #expect(site.sent(patch) == size && site.sent(whole) == 0)
        #expect(try await store.companion("routing", of: estonia)?.engine == "3.7")
        #expect(try await store.verify(deep: true).isEmpty)
        // Back and forward as without a patch.
        #expect(try await store.states { [try await $0.rollback(estonia)] } == [.done])
        #expect(try await bytes(store) == first)
        await store.worker.settle()
        #expect(try await store.agreesWithTheDisk())
    }

    /// Damaged on its way, damaged for good, and one that its publisher made of another file.
    @Test(arguments: ["damaged", "missing", "another"])
    func aPatchThatCannotBeUsedCostsTheWholeFile(trouble: String) async throws {
        let store = try await installed()
        var other = second
        other[77] ^= 1
        try site.attach(
            "EE", version: 2, bytes: second, previous: first, patched: trouble == "another" ? other : nil)
        try site.publish()
        if trouble == "damaged" { site.serve([UInt8](repeating: 9, count: site.size(patch)), at: patch) }
        if trouble == "missing" { site.answer(404, at: patch) }
        #expect(try await update(store) == [.done])
        #expect(try await bytes(store) == second)
        #expect(site.sent(whole) == second.count)
        await store.worker.settle()
        #expect(try await store.agreesWithTheDisk())
    }

    /// An installed file that was changed is no base of a patch.
    @Test func aDamagedOldFileCostsTheWholeFile() async throws {
        let store = try await installed()
        let file = try #require(try await store.companion("routing", of: estonia)).file
        var damaged = first
        damaged[5] ^= 1
        try Data(damaged).write(to: file)
        try site.attach("EE", version: 2, bytes: second, previous: first)
        try site.publish()
        #expect(try await update(store) == [.done])
        #expect(try await bytes(store) == second)
        #expect(site.sent(whole) == second.count)
    }

    /// The same bytes for another engine: the patch is one copy.
    @Test func anotherEngineAloneCostsAFewBytes() async throws {
        let store = try await installed()
        try site.attach("EE", version: 2, bytes: first, engine: "4.0", previous: first)
        try site.publish()
        #expect(try await update(store) == [.done])
        #expect(try await bytes(store) == first)
        #expect(try await store.companion("routing", of: estonia)?.engine == "4.0")
        #expect(site.sent(whole) == 0 && site.sent(patch) < 200)
        #expect(try await store.verify(deep: true).isEmpty)
        await store.worker.settle()
        #expect(try await store.agreesWithTheDisk())
    }
}
