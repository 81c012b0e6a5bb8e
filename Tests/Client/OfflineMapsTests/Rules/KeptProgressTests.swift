import Testing

@testable import OfflineMaps

/// A file that is made from a patch is counted once, at whatever step a process ends and another one goes on.
@Suite struct KeptProgressTests {
    static let old = InstalledFile(download("map", version: 1).file, bytes: 1_000)
    static let patch = DownloadPatch(digest: "patch", size: 100, base: "map-1")
    static let new = download("map", version: 2, source: .file(patch))

    /// How far the task is, its note for the next process, and the part files, after so many steps.
    static func ended(after steps: Int) throws -> (note: TaskWork, parts: [String: UInt64]) {
        var rows = StoreRows()
        rows.files[old.id] = old
        var driver = RuleDriver(rows)
        var (task, effects) = driver.add(.load, [.style("map")], Plan(downloads: [new]))
        let fetch = try #require(effects.fetches.first)
        var parts: [String: UInt64] = [:]
        if steps >= 1 {
            driver.send(.received(fetch, size: 60))
            parts = ["patch": 60]
        }
        if steps >= 2 {
            driver.send(.received(fetch, size: 100))
            effects = driver.send(.fetched(fetch))
            parts = ["patch": 100]
        }
        if steps >= 3 {
            effects = driver.send(.verified(try #require(effects.patches.first)))
            parts = ["map-2": 1_000]
        }
        let plan = try #require(driver.machine.plans[task])
        let progress = driver.machine.progress[task] ?? TaskProgress()
        return (plan.work(progress), parts)
    }

    @Test(arguments: 0...3) func aPatchedFileIsCountedOnce(steps: Int) throws {
        let (note, parts) = try Self.ended(after: steps)
        let transferred: UInt64 = [0, 60, 100, 100][steps]
        #expect(note.progress.transferred == transferred)
        let kept = note.progress(parts: parts, installed: [])
        #expect(kept.transferred == transferred)
        #expect(kept.fraction == Double(transferred) / 100)
    }

    /// The note is older than the part files: what came since is added.
    @Test(arguments: 0...3, 0...3) func anOlderNoteCountsWhatCameSince(noted: Int, steps: Int) throws {
        guard noted <= steps else { return }
        let (note, _) = try Self.ended(after: noted)
        let (_, parts) = try Self.ended(after: steps)
        let kept = note.progress(parts: parts, installed: [])
        #expect(kept.transferred == [0, 60, 100, 100][steps])
    }

    @Test func withoutThePatchThePartOfTheWholeFileCounts() {
        let piece = TaskWork.Piece(file: "map-2", patch: nil, size: 1_000, cost: 1_000, there: 0)
        let note = TaskWork(pieces: [piece], cost: 1_000, there: 0, progress: TaskProgress())
        #expect(note.progress(parts: ["map-2": 300], installed: []).transferred == 300)
    }
}
