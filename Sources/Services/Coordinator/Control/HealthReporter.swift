internal import Blobs
import Files
import Foundation
internal import Notifications
import Scheduling
import Wire

/// Reports the state of this process, and watches the disks of its folders.
final class HealthReporter {
    private let environment: LoopEnvironment
    private let state: CoordinatorState
    private let backups: BackupRunner
    /// Why the state file cannot be written; `nil` = it can.
    var unwritable: String?
    var isDegraded: Bool { unwritable != nil }
    /// The last known space of each folder's disk.
    private(set) var spaces: [MetricsSnapshot.Folder: DiskSpace] = [:]
    private var nextSpaceCheck = Tick(milliseconds: 0)
    /// Folders whose disks were asked and did not answer yet.
    private var checkedFolders: Set<MetricsSnapshot.Folder> = []

    init(_ state: CoordinatorState, _ backups: BackupRunner) {
        self.state = state
        self.backups = backups
        environment = state.environment
    }

    /// Reports the state of this process and the findings that need an operator.
    func report() -> Message {
        .health(
            .make {
                $0.build = environment.options.build
                $0.epoch = environment.store.epoch
                $0.state = isDegraded ? "degraded" : "serving"
                $0.catalog = environment.places.main.folder.path
                $0.otherCatalogs = environment.places.all.dropFirst().map { place in
                    .make {
                        $0.name = place.name
                        $0.folder = place.folder.path
                        $0.url = place.url ?? ""
                    }
                }
                $0.blobStore = environment.blobs.id
                $0.bboxTileLimit = environment.options.bboxTileLimit
                if let age = backups.age {
                    $0.backupPlace = age.place
                    $0.backupAgeMs = age.isOfBackup ? UInt64(age.milliseconds) : 0
                }
                $0.findings =
                    catalogFindings() + backupFindings() + scheduleFindings() + originFindings()
                    + notificationFindings()
            })
    }

    /// Checks the free space of the disks every ten seconds, outside the loop, because a folder may be on a network
    /// file system that hangs.
    ///
    /// Only the page of metrics shows the disks of state and blobs.
    func checkSpace() {
        guard environment.now >= nextSpaceCheck else { return }
        nextSpaceCheck = environment.now + 10_000
        let options = environment.options
        var folders = environment.places.all.map { (MetricsSnapshot.Folder.catalog($0.name), $0.folder) }
        if environment.board != nil {
            folders.append((.state, options.data))
            // Blobs in a bucket are on no disk.
            if options.store == nil { folders.append((.blobs, options.blobs)) }
        }
        for (folder, place) in folders where checkedFolders.insert(folder).inserted {
            environment.executor.run(on: .checks) {
                // `nil` is reported as unknown space.
                .space(folder, try? await FileWork.run { options.diskSpace(place) })
            }
        }
    }

    /// Handles the result of a check; `nil` = the disk cannot be asked.
    func setSpace(_ space: DiskSpace?, of folder: MetricsSnapshot.Folder) {
        spaces[folder] = space
        checkedFolders.remove(folder)
    }

    /// Full disks, and packages that cannot be put into a catalog.
    ///
    /// Nothing is published there until the operator acts.
    private func catalogFindings() -> [PBHealthFinding] {
        let unpublished = unpublished()
        return environment.places.all.compactMap { finding(about: $0, unpublished[$0.name]) }
    }

    private func finding(about place: CatalogPlaces.Place, _ unpublished: Unpublished?) -> PBHealthFinding? {
        let isMain = place.name == environment.places.main.name
        let catalog = (isMain ? "" : "'\(place.name)' ") + "'\(place.folder.path)'"
        if let (job, package, trouble) = unpublished {
            let isFull = trouble.cause == "disk-full"
            let text =
                "package '\(package)' of job \(job) cannot be put into the catalog \(catalog): \(trouble.detail) [\(trouble.cause)]"
            let hint = isFull ? "free space on its disk" : "correct the folder or its permissions"
            return finding(
                "fail", code: isFull ? "catalog-full" : "catalog-not-written", text: text,
                hint: "\(hint); publishing is retried every few seconds")
        }
        guard let space = spaces[.catalog(place.name)], space.isShort else { return nil }
        guard space.free >= Self.minSpace else {
            return finding(
                "fail", code: "catalog-full", text: "the disk of the catalog \(catalog) is full",
                hint: "free space on it")
        }
        return finding(
            "warn", code: "catalog-nearly-full",
            text: "the disk of the catalog \(catalog) is nearly full: \(space.free / 1_000_000) MB are free",
            hint: "free space on it, or remove old versions: packhorse catalog prune")
    }

    private typealias Unpublished = (job: JobID, package: String, Trouble)

    /// The first package of each catalog whose publication failed and is being retried.
    private func unpublished() -> [String: Unpublished] {
        var found: [String: Unpublished] = [:]
        for job in state.scheduler.jobIDs where state.scheduler.isLiving(job) {
            let catalog = environment.places.name(of: job)
            guard found[catalog] == nil else { continue }
            for package in state.scheduler.packages(of: job)
            where package.state == .publishing || package.state == .manifest {
                guard let trouble = package.trouble, Self.catalogCauses.contains(trouble.cause) else { continue }
                found[catalog] = (job, package.id, trouble)
                break
            }
        }
        return found
    }

    /// Schedules whose last run made no job, or whose last job failed.
    var failingSchedules: Int { scheduleFindings().count }

    /// Milliseconds since the newest automatic backup; `nil` = none are made.
    var backupAge: Int64? { backups.age?.milliseconds }

    /// Milliseconds since the event of the oldest notification that waits; 0 = none waits.
    var notificationWait: Int64 {
        let waits = environment.notifier.troubles.map { max(environment.wall - $0.trouble.waitsSince, 0) }
        return waits.max() ?? 0
    }

    private func scheduleFindings() -> [PBHealthFinding] {
        state.scheduler.allSchedules.compactMap { schedule in
            // Another attempt waits or runs.
            guard schedule.attempts.failures == 0 else { return nil }
            if let trouble = schedule.trouble {
                let text =
                    "the last run of schedule '\(schedule.id)' made no job: \(trouble.detail) [\(trouble.cause)]"
                let hint = "correct the schedule, then test it: packhorse schedule run \(schedule.id)"
                return finding("warn", code: "schedule-failed", text: text, hint: hint)
            }
            guard let job = state.scheduler.summary(of: schedule.lastJob), job.state == .failed else { return nil }
            let text = "job \(job.id), the last job of schedule '\(schedule.id)', failed: \(job.reason)"
            return finding(
                "warn", code: "schedule-failed", text: text,
                hint: "packhorse status \(job.id); packhorse retry \(job.id)")
        }
    }

    private func originFindings() -> [PBHealthFinding] {
        state.scheduler.origins(now: environment.now).filter { $0.state == "blocked" || $0.state == "broken" }.map {
            origin in
            let seconds = (origin.blockedFor + 999) / 1_000
            let text =
                origin.state == "blocked"
                ? "origin '\(origin.name)' asked clients to wait; it gets no requests for \(seconds) s"
                : "origin '\(origin.name)' does not answer; the next attempt is in \(seconds) s"
            return finding(
                "warn", code: "origin-\(origin.state)", text: text, hint: "packhorse origins shows its state")
        }
    }

    private func backupFindings() -> [PBHealthFinding] {
        backups.warning.map { [finding("warn", code: "backup-old", text: $0.text, hint: $0.hint)] } ?? []
    }

    private func notificationFindings() -> [PBHealthFinding] {
        environment.notifier.troubles.map { receiver, trouble in
            let age = max(environment.wall - trouble.waitsSince, 0) / 1_000
            let text =
                "notifications to \(receiver) wait: the oldest is \(age) s old; the last of \(trouble.failures) requests"
                + " failed: \(trouble.why)"
            return finding("warn", code: "notifications-wait", text: text, hint: "check the receiver")
        }
    }

    private func finding(_ level: String, code: String, text: String, hint: String) -> PBHealthFinding {
        .make {
            $0.level = level
            $0.code = code
            $0.text = String(text.prefix(1_000))
            $0.hint = hint
        }
    }

    /// Causes that are retried until they are resolved.
    private static let catalogCauses: Set<String> = ["disk-full", "io"]
    /// A disk with less free space counts as full: no package and hardly a list fits.
    ///
    /// Unit: bytes.
    private static let minSpace: UInt64 = 1_000_000
}
