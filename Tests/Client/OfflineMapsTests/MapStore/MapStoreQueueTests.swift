import Foundation
import Synchronization
import TestSupport
import Testing
import Tiles

@testable import OfflineMaps

/// The queue on a real network: pause, cancel, resume, refusals.
@Suite(.timeLimit(.minutes(15)))
struct MapStoreQueueTests {
    private let site: StoreSite
    private let map: TestMap
    private let path: String

    init() throws {
        site = try StoreSite()
        map = try TestMap((7, 72, 37), depth: 4)
        path = try site.add("EE", depth: 4)
        try site.publish()
    }

    /// Waits until the server has sent the first half of the file and the store knows of it.
    private func halfDownloaded(_ store: MapStore) async throws -> TaskID {
        site.stall(path, at: site.size(path) / 2)
        let events = store.events
        let id = try #require(try await store.install([.package("EE")]).first)
        await store.waitForHalf(of: site.size(path), in: events)
        return id
    }

    private var parts: [String: UInt64] { StoreScan.parts(site.scratch.folder) }

    @Test func aPausedTaskSendsNothingAndContinuesWhereItWas() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        let id = try await halfDownloaded(store)
        let paused = store.events
        try await store.setPriority(-1, of: id)
        _ = await store.wait(in: paused) { event in
            if case .task(let task) = event { task.state == .paused(.user) } else { false }
        }
        let before = site.requests.count
        await store.stop()
        try await store.start()
        #expect(try await store.tasks().map(\.state) == [.paused(.user)])
        #expect(site.requests.count == before)
        site.stall(path, at: nil)
        #expect(
            try await store.states { store in
                try await store.setPriority(0, of: id)
                return [id]
            } == [.done])
        #expect(try store.shows("EE 1", map))
        #expect(site.sent(path) == site.size(path))
    }

    @Test func aCancelledTaskLeavesNothing() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        let id = try await halfDownloaded(store)
        #expect(
            try await store.states { store in
                try await store.cancel(id)
                return [id]
            } == [.cancelled])
        await store.stop()
        #expect(parts.isEmpty)
        #expect(try await store.tasks().isEmpty)
    }

    @Test func aDownloadContinuesInTheNextProcess() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        _ = try await halfDownloaded(store)
        // As a process that is killed: nothing is written any more.
        await store.worker.close()
        #expect(parts.values.first == UInt64(site.size(path) / 2))
        site.stall(path, at: nil)
        let again = try await MapStore(alone: try site.options())
        let id = try #require(try await again.tasks().first?.id)
        #expect(
            try await again.states { store in
                try await store.start()
                return [id]
            } == [.done])
        #expect(try again.shows("EE 1", map))
        #expect(site.sent(path) == site.size(path))
    }

    @Test func offlineNothingIsRequested() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        await store.forceOffline(true)
        let before = site.server.requests.count
        let events = store.events
        let ids = try await store.install([.package("EE")])
        _ = await store.wait(in: events) { event in
            if case .task(let task) = event { task.state == .waiting(.network) } else { false }
        }
        let error = await #expect(throws: StoreError.self) { try await store.refreshCatalog(ifOlderThan: .zero) }
        #expect(error?.failure == .connection)
        #expect(site.server.requests.count == before)
        #expect(
            try await store.states { store in
                await store.forceOffline(false)
                return ids
            } == [.done])
    }

    @Test func wrongBytesAreDownloadedTwiceAndRefused() async throws {
        site.files.state.withLock { $0.bodies[path]?[5_000] ^= 1 }
        let store = try await site.store()
        try await store.refreshCatalog()
        #expect(try await store.states { try await $0.install([.package("EE")]) } == [.failed(.badBytes)])
        #expect(site.requests == [path, path])
        #expect(try await store.installed().isEmpty)
        await store.stop()
        #expect(parts.isEmpty)
    }

    @Test func aFileThatDoesNotEndIsCutAtItsSize() async throws {
        let size = site.size(path)
        site.files.state.withLock { $0.bodies[path]?.append(contentsOf: repeatElement(7, count: 5_000_000)) }
        let store = try await site.store()
        try await store.refreshCatalog()
        let states = try await store.states { try await $0.install([.package("EE")]) }
        #expect(states == [.failed(.badBytes)])
        #expect(parts.values.allSatisfy { $0 <= UInt64(size) })
    }

    @Test func whatTheServerDoesNotHaveIsLookedUpInTheListOnceMore() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        site.answer(404, at: path)
        let lists = site.server.requests.count { $0.path == "/catalog.json" }
        #expect(try await store.states { try await $0.install([.package("EE")]) } == [.failed(.notFound)])
        #expect(site.server.requests.count { $0.path == "/catalog.json" } == lists + 1)
    }

    @Test func aNewerVersionIsTakenWhenTheOldOneIsGone() async throws {
        let store = try await site.store()
        try await store.refreshCatalog()
        let newer = try site.add("EE", version: 2, depth: 4)
        try site.publish()
        site.answer(404, at: path)
        #expect(try await store.states { try await $0.install([.package("EE")]) } == [.done])
        #expect(try store.shows("EE 2", map))
        #expect(site.sent(newer) == site.size(newer))
    }

    @Test func aFileBeyondTheQuotaWaits() async throws {
        let store = try await site.store { $0.quota.bytes = 1_000 }
        try await store.refreshCatalog()
        let events = store.events
        let ids = try await store.install([.package("EE")])
        let size = UInt64(site.size(path))
        _ = await store.wait(in: events) { event in
            if case .task(let task) = event {
                task.state == .paused(.quota(needed: size, allowed: 1_000))
            } else {
                false
            }
        }
        #expect(site.requests.isEmpty)
        #expect(
            try await store.states { store in
                try await store.setQuota(Quota())
                return ids
            } == [.done])
    }
}
