import Catalog
import Errors
import Files
import MetricsFormat
import Scheduling

extension MetricsSnapshot {
    private typealias Row = CoordinatorMetric

    /// Writes all families of a coordinator.
    ///
    /// - Parameter age: Since the snapshot was made.
    func write(to text: inout MetricsText, age: Duration) {
        writeJobs(to: &text)
        writeWork(to: &text)
        writeOrigins(to: &text)
        writeDisks(to: &text)
        writeLoop(to: &text)
        text.single(Row.snapshotAge, age / .seconds(1))
    }

    private func writeJobs(to text: inout MetricsText) {
        text.each(Row.jobs, Self.words(totals.jobs))
        text.each(Row.jobsWaiting, Self.words(totals.waiting))
        text.single(Row.oldestOpenJob, Double(oldestJob) / 1_000)
        text.single(Row.longestIdleJob, Double(longestIdle) / 1_000)
        let open = totals.open
        let settled = open.stored &+ open.empty &+ open.failed &+ open.inFlightDone
        let tiles: [String: UInt64] = [
            "waiting": open.tiles - min(settled, open.tiles), "in-flight": open.inFlightDone, "stored": open.stored,
            "empty": open.empty, "failed": open.failed,
        ]
        text.each(Row.jobTiles, tiles.mapValues { Double($0) })
        let batches: [String: UInt64] = [
            "ready": open[.ready], "leased": open[.leased], "backoff": open[.backoff], "done": open[.done],
            "failed": open[.dead],
        ]
        text.each(Row.jobBatches, batches.mapValues { Double($0) })
        text.single(Row.schedules, Double(schedules))
        text.each(Row.workers, Self.words(totals.workers))
        text.single(Row.workerLeases, Double(totals.leases))
        text.single(Row.workerCredit, Double(totals.credit))
        text.single(Row.longestSilence, Double(totals.longestSilence) / 1_000)
    }

    private func writeWork(to text: inout MetricsText) {
        let tiles: [String: UInt64] = [
            "stored": counters.storedTiles, "empty": counters.emptyTiles, "failed": counters.failedTiles,
        ]
        text.each(Row.acceptedTiles, tiles.mapValues { Double($0) })
        text.single(Row.acceptedBatches, Double(counters.batches))
        text.single(Row.acceptedBytes, Double(counters.bodyBytes))
        text.each(Row.failedBatches, Self.words(counters.deadBatches))
        text.each(Row.failedTiles, Self.words(counters.namedTiles))
        let results: [String: UInt64] = [
            "published": counters.published, "unchanged": counters.unchanged, "failed": counters.unpublished,
        ]
        text.each(Row.publications, results.mapValues { Double($0) })
        let steps: [String: UInt64] = ["done": counters.stepsDone, "failed": counters.stepsFailed]
        text.each(Row.steps, steps.mapValues { Double($0) })
        text.single(Row.schedulesFired, Double(counters.fired))
        text.single(Row.schedulesSkipped, Double(counters.skipped))
        text.single(Row.schedulesUnchanged, Double(counters.withoutBuild))
        text.single(Row.schedulesFailing, Double(failingSchedules))
        text.family(Row.scheduleDataAge)
        if let dataAge { text.sample(Row.scheduleDataAge, value: Double(dataAge) / 1_000) }
        text.single(Row.notificationsWaiting, Double(notificationWait) / 1_000)
        text.family(Row.backupAge)
        if let backupAge { text.sample(Row.backupAge, value: Double(backupAge) / 1_000) }
        text.family(Row.stateBackupAge)
        if let stateBackupAge { text.sample(Row.stateBackupAge, value: Double(stateBackupAge) / 1_000) }
    }

    private func writeOrigins(to text: inout MetricsText) {
        text.each(Row.origins, originStates.mapValues { Double($0) })
        let all = origins.map { ($0.name, $0.counts) } + [(OriginSeries.rest, otherOrigins)]
        let counts: [(Row, KeyPath<OriginCounts, UInt64>)] = [
            (.originRequests, \.requests), (.originThrottled, \.throttled), (.originFailed, \.failed),
        ]
        for (row, path) in counts {
            text.family(row)
            for (name, counts) in all { text.sample(row, name, value: Double(counts[keyPath: path])) }
        }
        let views = origins.compactMap(\.view)
        text.family(Row.originFactor)
        for view in views { text.sample(Row.originFactor, view.name, value: view.factor) }
        text.family(Row.originBlocked)
        for view in views { text.sample(Row.originBlocked, view.name, value: Double(view.blockedFor) / 1_000) }
        text.family(Row.originGranted)
        for view in views {
            if let rate = view.grantedPerSecond { text.sample(Row.originGranted, view.name, value: rate) }
        }
    }

    private func writeDisks(to text: inout MetricsText) {
        text.family(Row.freeSpace)
        for (folder, space) in known { text.sample(Row.freeSpace, folder, value: Double(space.free)) }
        text.family(Row.diskSize)
        for (folder, space) in known { text.sample(Row.diskSize, folder, value: Double(space.total)) }
        if let blobs {
            text.single(Row.blobBytes, Double(blobs.bytes))
            text.single(Row.blobCount, Double(blobs.count))
        }
        text.single(Row.keptTileBytes, Double(totals.keptBytes))
    }

    /// The disks by label; the label of another catalog than the main one would be no word of the table.
    private var known: [(String, DiskSpace)] {
        let main = Folder.catalog(PublishOptions.mainCatalog)
        return [("state", Folder.state), ("blobs", .blobs), ("catalog", main)].compactMap { label, folder in
            spaces[folder].map { (label, $0) }
        }
    }

    private func writeLoop(to text: inout MetricsText) {
        text.single(Row.epoch, Double(epoch))
        text.single(Row.isDegraded, isDegraded ? 1 : 0)
        text.single(Row.lastEvent, Double(counters.lastEvent))
        let frames: [String: UInt64] = ["control": counters.controlFrames, "work": counters.workFrames]
        text.each(Row.frames, frames.mapValues { Double($0) })
        text.family(Row.tick)
        text.histogram(Row.tick, histogram: counters.ticks)
        text.single(Row.longestWait, counters.waits.longest / .seconds(1))
        text.family(Row.transactions)
        text.histogram(Row.transactions, histogram: counters.transactions)
        text.single(Row.writes, Double(counters.writes))
        text.single(Row.plansWaiting, Double(plansWaiting))
        text.family(Row.snapshot)
        text.histogram(Row.snapshot, histogram: costs)
    }

    private static func words<Key: RawRepresentable<String>>(
        _ counts: [Key: some BinaryInteger]
    ) -> [String: Double] {
        Dictionary(counts.map { ($0.key.rawValue, Double($0.value)) }, uniquingKeysWith: +)
    }
}
