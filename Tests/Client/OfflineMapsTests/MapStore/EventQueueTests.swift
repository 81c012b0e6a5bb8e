import Testing
import Tiles

@testable import OfflineMaps

/// What a slow reader gets.
struct EventQueueTests {
    private func task(_ number: Int64, _ fraction: Double) -> StoreEvent {
        var progress = TaskProgress()
        progress.fraction = fraction
        return .task(
            StoreTask(
                id: TaskID(number: number), kind: .install, items: [], priority: 0, state: .downloading,
                progress: progress))
    }

    @Test func eventsOfTheSameItemAreMergedWhenItIsFull() async throws {
        let hub = EventHub()
        let queue = hub.subscribe()
        for step in 0..<2_000 { hub.send(task(Int64(step % 3), Double(step))) }
        hub.send(.removed(.package("EE")))
        hub.end()
        var events: [StoreEvent] = []
        while let event = await queue.next() { events.append(event) }
        #expect(events.count <= EventQueue.limit)
        // The last of each task is there, in order, and the removal is the end.
        var last: [Int64: Double] = [:]
        for case .task(let task) in events { last[task.id.number] = task.progress.fraction }
        #expect(last == [0: 1_998, 1: 1_999, 2: 1_997])
        guard case .removed(.package("EE", Edition(), .mbtiles)) = events.last else {
            Issue.record("\(events.last as Any)")
            return
        }
    }

    @Test func changedTilesAreJoined() throws {
        let (one, two) = (TileMask(tiles: [.root], maxZoom: 0), TileMask(tiles: [.root], maxZoom: 1))
        let merged = StoreEvent.merged([
            .installed(.package("A"), version: 1, changed: one), .evicted(bytes: 5),
            .installed(.package("A"), version: 2, changed: two), .evicted(bytes: 6),
            .installed(.package("B"), version: 1, changed: one), .installed(.package("B"), version: 2, changed: nil),
        ])
        #expect(merged.count == 3)
        for event in merged {
            switch event {
            case .installed(.package("A", _, _), let version, changed: let mask):
                #expect(version == 2 && mask == one.union(two))
            case .installed(_, let version, changed: let mask): #expect(version == 2 && mask == nil)
            case .evicted(let bytes): #expect(bytes == 11)
            default: Issue.record("\(event)")
            }
        }
    }

    @Test func aCancelledReaderEnds() async {
        let hub = EventHub()
        let queue = hub.subscribe()
        let reader = Task { await queue.next() }
        reader.cancel()
        #expect(await reader.value == nil)
    }
}
