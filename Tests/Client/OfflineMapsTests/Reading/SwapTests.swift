import Foundation
import Synchronization
import Testing
import Tiles

@testable import OfflineMaps

/// Readers while units are swapped.
struct SwapTests {
    /// Four threads read while the package is replaced a hundred times, and each old file is removed.
    @Test func readersGetTheOldOrTheNewTile() throws {
        let scratch = try StoreScratch()
        let map = try TestMap((7, 72, 37), depth: 2)
        let bodies = (0...100).map { version in map.tiles.map { Data(TestMap.body("EE \(version)", $0)) } }
        let first = try scratch.unit("EE", version: 0)
        let reports = Atomic<Int>(0)
        let reader = TileReader(scratch.folder, [first]) { _, _ in reports.add(1, ordering: .relaxed) }
        let swapped = Atomic<Int>(0)
        let begun = Atomic<Int>(0)
        let isOver = Atomic<Bool>(false)
        let problems = Mutex<[String]>([])
        let reads = Atomic<Int>(0)
        let done = DispatchGroup()
        for thread in 0..<4 {
            done.enter()
            Thread.detachNewThread {
                var number = thread
                while !isOver.load(ordering: .acquiring) {
                    number = (number + 7) % map.tiles.count
                    let oldest = swapped.load(ordering: .sequentiallyConsistent)
                    do throws(StoreError) {
                        guard case .found(let tile) = try reader.tile(map.tiles[number]) else {
                            problems.withLock { $0.append("tile \(map.tiles[number]) is away") }
                            continue
                        }
                        let newest = begun.load(ordering: .sequentiallyConsistent)
                        if !(oldest...newest).contains(where: { bodies[$0][number] == tile.body }) {
                            problems.withLock { $0.append("tile \(map.tiles[number]) is of another version") }
                        }
                    } catch { problems.withLock { $0.append("\(error)") } }
                    reads.add(1, ordering: .relaxed)
                }
                done.leave()
            }
        }
        var current = first
        for version in 1...100 {
            let next = try scratch.unit("EE", version: Int32(version))
            // The readers get in between any two swaps.
            let seen = reads.load(ordering: .relaxed)
            while reads.load(ordering: .relaxed) < seen + 20 { sched_yield() }
            begun.store(version, ordering: .sequentiallyConsistent)
            reader.replace([next])
            swapped.store(version, ordering: .sequentiallyConsistent)
            try FileManager.default.removeItem(at: try #require(scratch.folder.file(current.path)))
            current = next
        }
        isOver.store(true, ordering: .releasing)
        done.wait()
        #expect(problems.withLock { Array($0.prefix(5)) } == [])
        #expect(reports.load(ordering: .relaxed) == 0)
        reader.replace([])
        #expect(reader.openFiles == 0)
    }

    /// An object that is replaced while threads load it is freed once, and never while a thread has it.
    @Test func aReplacedObjectIsFreedOnceNobodyHasIt() throws {
        let alive = Alive()
        let box = SnapshotBox(Thing(alive))
        let isOver = Atomic<Bool>(false)
        let wrong = Atomic<Int>(0)
        let done = DispatchGroup()
        for _ in 0..<4 {
            done.enter()
            Thread.detachNewThread {
                while !isOver.load(ordering: .acquiring) {
                    if box.load().mark.load(ordering: .relaxed) != 42 { wrong.add(1, ordering: .relaxed) }
                }
                done.leave()
            }
        }
        for _ in 0..<50_000 { box.replace(Thing(alive)) }
        isOver.store(true, ordering: .releasing)
        done.wait()
        #expect(wrong.load(ordering: .relaxed) == 0)
        #expect(alive.count.load(ordering: .relaxed) == 1)
    }

    private final class Alive: Sendable {
        let count = Atomic<Int>(0)
    }

    private final class Thing: Sendable {
        let mark = Atomic<Int>(42)
        let alive: Alive
        init(_ alive: Alive) {
            self.alive = alive
            alive.count.add(1, ordering: .relaxed)
        }
        deinit {
            mark.store(0, ordering: .relaxed)
            alive.count.subtract(1, ordering: .relaxed)
        }
    }
}
