import Blobs
import Files
import Foundation
import MetricsFormat
import Scheduling
import Tilesets

/// Makes a snapshot for the page of metrics once a second, at the end of a tick.
///
/// A page never waits for the loop, and the loop never waits for a page. A snapshot costs one pass over jobs and workers; batches are
/// not read, because the scheduler keeps their sums.
final class MetricsPublisher {
    /// Milliseconds between two snapshots.
    private static let interval: Int64 = 1_000
    /// Milliseconds between two counts of the blobs; a count that takes long is repeated less often.
    private static let blobInterval: Int64 = 60_000

    private let environment: LoopEnvironment
    private let state: CoordinatorState
    private let health: HealthReporter
    private var next = Tick(milliseconds: 0)
    private var origins = OriginSeries()
    private var idle = IdleJobs()
    private var costs = Histogram()
    private var blobs: BlobUsage?
    private var nextBlobCount = Tick(milliseconds: 0)
    private var isCounting = false
    /// When the newest backup was made; milliseconds since 1970.
    private var backup: Int64?
    private var nextBackupLook = Tick(milliseconds: 0)

    init(_ state: CoordinatorState, _ health: HealthReporter) {
        self.state = state
        self.health = health
        environment = state.environment
    }

    /// Makes a snapshot when one is due.
    func publishIfDue() {
        guard let board = environment.board, environment.now >= next else { return }
        next = environment.now + Self.interval
        countBlobs()
        lookForBackups()
        let start = ContinuousClock.now
        board.publish(snapshot())
        costs.add((ContinuousClock.now - start) / .seconds(1))
    }

    /// Handles the result of a count of the blobs; `nil` = they cannot be counted.
    func setBlobs(_ usage: BlobUsage?) {
        blobs = usage
        isCounting = false
    }

    private func snapshot() -> MetricsSnapshot {
        let now = environment.now
        let views = state.scheduler.origins(now: now)
        var snapshot = MetricsSnapshot()
        snapshot.totals = state.scheduler.totals(now: now, origins: views)
        snapshot.counters = state.counters
        origins.add(state.scheduler.originCounts)
        for view in views { snapshot.originStates[view.state, default: 0] += 1 }
        let byName = Dictionary(views.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        snapshot.origins = origins.named.map { .init(name: $0.name, counts: $0.counts, view: byName[$0.name]) }
        snapshot.otherOrigins = origins.rest
        // Numbers of jobs rise, so the first one is the oldest.
        let oldest = snapshot.totals.progress.first.flatMap { state.jobs.times(of: $0.job) }
        snapshot.oldestJob = oldest.map { max(environment.wall - $0.created, 0) } ?? 0
        snapshot.longestIdle = idle.update(snapshot.totals.progress, now: now)
        snapshot.totals.forgetProgress()
        snapshot.schedules = state.scheduler.scheduleCount
        snapshot.failingSchedules = health.failingSchedules
        snapshot.dataAge = oldestData.map { max(environment.wall - $0, 0) }
        snapshot.notificationWait = health.notificationWait
        snapshot.backupAge = backup.map { max(environment.wall - $0, 0) }
        snapshot.stateBackupAge = health.backupAge
        snapshot.spaces = health.spaces
        snapshot.blobs = blobs
        snapshot.epoch = environment.store.epoch
        snapshot.isDegraded = health.isDegraded
        snapshot.plansWaiting = environment.executor.plansWaiting
        snapshot.costs = costs
        return snapshot
    }

    /// The oldest day of data among the builds of which the schedules made their last jobs, in milliseconds since 1970.
    private var oldestData: Int64? {
        let days = state.scheduler.allSchedules.compactMap { state.jobs.spec(of: $0.lastJob)?.tileset.build?.date }
        return days.min().flatMap { day in
            (try? Date(day, strategy: .iso8601.year().month().day())).map { Int64($0.timeIntervalSince1970 * 1_000) }
        }
    }

    /// Takes the time of the newest backup, in milliseconds since 1970; `nil` = no backup exists.
    func setBackup(_ wall: Int64?) { backup = wall }

    /// Looks for the newest backup every ten seconds, outside of the loop.
    private func lookForBackups() {
        guard environment.now >= nextBackupLook else { return }
        nextBackupLook = environment.now + 10_000
        let folder = StateStore.backupFolder(of: environment.options.data)
        environment.executor.run(on: .checks) {
            // A folder that cannot be read has no backups.
            .newestBackup(try? await FileWork.run { StateStore.newestBackup(in: folder) })
        }
    }

    /// Counts the blobs of a folder outside of the loop.
    private func countBlobs() {
        guard let folder = environment.blobs as? FolderBlobStore, environment.now >= nextBlobCount, !isCounting else {
            return
        }
        isCounting = true
        nextBlobCount = environment.now + Self.blobInterval + 50 * (blobs?.milliseconds ?? 0)
        environment.executor.run(on: .checks) {
            let start = ContinuousClock.now
            // `nil` is shown as no count.
            guard let usage = try? await folder.usage() else { return .blobUsage(nil) }
            let time = Int64((ContinuousClock.now - start) / .milliseconds(1))
            return .blobUsage(BlobUsage(count: usage.blobs, bytes: usage.bytes, milliseconds: time))
        }
    }
}

/// The blobs of a folder.
struct BlobUsage: Sendable {
    let count: Int
    let bytes: UInt64
    /// How long it took to count them.
    let milliseconds: Int64
}
