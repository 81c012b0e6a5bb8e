import Foundation
import TestSupport
import Testing

@testable import OfflineMaps

/// Tasks that no process works on: how far they are, and what is left of them when they are cancelled.
@Suite(.timeLimit(.minutes(15)))
struct MapStoreKeptWorkTests {
    private let site: StoreSite
    private let path: String

    init() throws {
        site = try StoreSite()
        path = try site.add("EE", depth: 4)
        try site.publish()
    }

    private var parts: [String: UInt64] { StoreScan.parts(site.scratch.folder) }

    /// Downloads the first half of a file.
    private func half(_ store: MapStore) async throws -> TaskID {
        try await store.refreshCatalog()
        site.stall(path, at: site.size(path) / 2)
        let events = store.events
        let id = try #require(try await store.install([.package("EE")]).first)
        await store.waitForHalf(of: site.size(path), in: events)
        return id
    }

    private func expectHalf(_ tasks: [StoreTask], _ id: TaskID) throws {
        let task = try #require(tasks.first { $0.id == id })
        #expect((0.49...0.51).contains(task.progress.fraction))
        #expect(task.progress.transferred == UInt64(site.size(path) / 2))
    }

    @Test func aStoppedTaskIsListedWithWhatItHas() async throws {
        let store = try await site.store()
        let id = try await half(store)
        await store.suspend()
        let next = try await MapStore(alone: try site.options())
        try expectHalf(try await next.tasks(), id)
        // What continues does not begin with nothing.
        site.stall(path, at: nil)
        let events = next.events
        try await next.start()
        var lowest = 1.0
        for await event in events {
            guard case .task(let task) = event, task.id == id else { continue }
            lowest = min(lowest, task.progress.fraction)
            if task.state.isFinal { break }
        }
        #expect(lowest >= 0.49)
        #expect(site.sent(path) == site.size(path))
        await next.stop()
        let works = try StoreDatabase.open(site.scratch.folder, isWorker: false).works()
        #expect(works.isEmpty, "nothing is kept of a task that has ended")
    }

    /// As after SIGKILL: what the process had noted is from the begin of the download.
    @Test func aTaskOfAProcessThatWasKilledIsListedByItsPartFile() async throws {
        let store = try await site.store()
        let id = try await half(store)
        await store.worker.close()
        let next = try await MapStore(alone: try site.options())
        try expectHalf(try await next.tasks(), id)
    }

    /// The second process only reads; the first one notes its progress every two seconds.
    @Test func anotherProcessSeesHowFarATaskIs() async throws {
        let store = try await site.store()
        let id = try await half(store)
        let reader = try await MapStore(alone: try site.options())
        #expect(reader.role == .reader)
        try await Eventually.holds("the progress of the process that works") {
            try await reader.tasks().first { $0.id == id }?.progress.fraction ?? 0 > 0.45
        }
        await store.stop()
    }

    @Test func aCancelledTaskOfAnEarlierProcessLeavesNoPart() async throws {
        try site.add("LV", cell: (7, 72, 39))
        try site.publish()
        let store = try await site.store()
        let id = try await half(store)
        let other = try #require(try await store.install([.package("LV")]).first)
        await store.suspend()
        #expect(parts.values.contains(UInt64(site.size(path) / 2)))
        // Not started: no task has a plan.
        let next = try await MapStore(alone: try site.options())
        try await next.cancel(id)
        #expect(!parts.values.contains(UInt64(site.size(path) / 2)), "the file is gone when the call returns")
        #expect(try await !next.tasks().map(\.id).contains(id))
        if try await next.tasks().map(\.id).contains(other) { try await next.cancel(other) }
        #expect(parts.isEmpty)
        #expect(try await next.usage().parts == 0)
    }

    /// Equal bytes have one part file.
    @Test func aPartThatAnotherTaskNeedsStays() async throws {
        let store = try await site.store()
        let id = try await half(store)
        var record = TaskRecord(id: TaskID(number: 0), kind: .update, items: [.package("EE")])
        record.rule.priority = 1
        let other = try await store.add(record)
        try await Eventually.holds("the plan of the second task") { await store.worker.keptWork.contains(other) }
        await store.suspend()
        let next = try await MapStore(alone: try site.options())
        try await next.cancel(id)
        #expect(parts.count == 1)
        try await next.cancel(other)
        #expect(parts.isEmpty)
    }

    @Test func readingTheCatalogBeginsNoTask() async throws {
        let store = try await MapStore(alone: try site.options())
        try await store.start(.catalog)
        try await store.refreshCatalog()
        let id = try #require(try await store.install([.package("EE")]).first)
        try await store.refreshCatalog(ifOlderThan: .zero)
        #expect(try await store.tasks().map(\.state) == [.paused(.stopped)])
        #expect(site.requests.isEmpty)
        let events = store.events
        try await store.start()
        #expect(await store.end(of: id, in: events) == .done)
        // What runs goes on.
        try await store.start(.catalog)
        #expect(try await store.states { try await $0.install([.package("EE")]) } == [.done])
    }
}
