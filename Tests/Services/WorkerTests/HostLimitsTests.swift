import Blobs
import Foundation
import Testing
import Wire

@testable import Worker

/// A worker at a limit of its machine finishes what runs and takes no more.
struct HostLimitsTests {
    @Test func aLimitedWorkerGivesBackWhatWaitsAndFinishesWhatRuns() {
        var rig = Rig.serving()
        _ = rig.offer(1)
        _ = rig.offer(2)
        _ = rig.offer(3)
        #expect(rig.do(.limited("memory")) == ["return [3]", "ready 0: memory"])
        #expect(rig.do(.limited("memory")) == [], "said once")
        #expect(rig.offer(4) == ["return [4]"], "an offer that crossed it costs nothing")
        #expect(rig.finish(1) == ["commit 1", "ready 0: memory"])
        #expect(rig.pass(5_000).contains("ready 0: memory"))
        #expect(rig.do(.limited("")) == ["ready 2"])
        #expect(rig.offer(5) == ["run 5"])
    }

    @Test func whatWaitsIsGivenBackAfterAReconnect() {
        var rig = Rig.serving()
        for token in 1...3 as ClosedRange<UInt64> { _ = rig.offer(token) }
        _ = rig.do(.linked)
        #expect(rig.do(.limited("memory")) == [], "not before the welcome")
        let effects = rig.hear(.welcome(.make { $0.adopted = [1, 2, 3] }))
        #expect(effects == ["return [3]", "ready 0: memory"])
    }

    @Test func aLimitIsReachedAboveItAndLeftBelowNineTenths() {
        var limits = HostLimits()
        #expect(limits.reached(by: .init(memory: .max, scratch: .max), before: []).isEmpty, "no limit")
        (limits.memory, limits.scratch) = (1_000_000_000, 500_000_000)
        func reached(
            _ memory: UInt64?, _ scratch: UInt64?, _ before: Set<HostLimits.Kind> = []
        ) -> Set<HostLimits.Kind> {
            let use = HostLimits.Use(memory: memory.map { $0 * 1_000_000 }, scratch: scratch.map { $0 * 1_000_000 })
            return limits.reached(by: use, before: before)
        }
        #expect(reached(1_000, 500) == [])
        #expect(reached(1_001, 500) == [.memory] && reached(1_000, 501) == [.scratch])
        #expect(reached(950, 0, [.memory]) == [.memory] && reached(900, 0, [.memory]) == [.memory])
        #expect(reached(950, 475, [.memory]) == [.memory], "one limit does not hold the other one")
        #expect(reached(899, 449, [.memory, .scratch]) == [])
        #expect(reached(nil, nil) == [], "unknown use reaches no limit")
        #expect(
            limits.reason([.memory, .scratch], .init(memory: 1_001_000_000, scratch: 501_000_000))
                == "1001 MB of 1000 MB of memory are used (--memory); 501 MB of 500 MB of temporary files are used (--scratch-limit)"
        )
        #expect(limits.reason([], .init()).isEmpty)
    }

    @Test func useIsMeasured() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "limits-\(UUID().uuidString)")
        defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") } }
        let (cache, other) = (try BlobCache(folder), try BlobCache(folder))
        try Data(count: 1_000).write(to: try cache.temporaryURL())
        try Data(count: 500).write(to: try cache.temporaryURL())
        try Data(count: 70).write(to: try other.temporaryURL())
        #expect(cache.bytesOnDisk() == 1_500, "files of other processes in the same folder do not count")
        #expect(other.bytesOnDisk() == 70)
        #expect(try #require(HostLimits.residentMemory()) > 1 << 20)
    }
}
