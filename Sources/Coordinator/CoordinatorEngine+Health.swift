import Foundation
import Scheduling
import Shards
import Wire

extension CoordinatorEngine {
    /// The state of this process, and what needs a person.
    func health() -> Message {
        .health(
            .make {
                $0.build = options.build
                $0.epoch = store.epoch
                $0.state = isDegraded ? "degraded" : "serving"
                $0.catalog = options.catalog.path
                $0.blobStore = blobs.id
                $0.bboxTileLimit = options.bboxTileLimit
                $0.findings = catalogFindings() + scheduleFindings() + originFindings()
            })
    }

    /// Looks at the free space of the catalog's disk: every ten seconds, beside the loop, because the folder may lie on a network that hangs.
    func lookAtCatalog() {
        guard now >= nextCatalogLook, !isLookingAtCatalog else { return }
        nextCatalogLook = now + 10_000
        isLookingAtCatalog = true
        workshop.run(on: .checks) { [options] in
            .catalogRoom(try? await FileWork.run { options.diskRoom(options.catalog) })
        }
    }

    /// A full disk, or packages that cannot be put into the catalog: nothing is delivered until somebody acts.
    private func catalogFindings() -> [PBHealthFinding] {
        let folder = "'\(options.catalog.path)'"
        if let (job, package, trouble) = unpublished() {
            let isFull = trouble.cause == "disk-full"
            let text =
                "package '\(package)' of job \(job) cannot be put into the catalog \(folder): \(trouble.detail) [\(trouble.cause)]"
            let hint = isFull ? "free space on its disk" : "correct the folder or its permissions"
            return [
                finding(
                    "fail", isFull ? "catalog-full" : "catalog-not-written", text,
                    "\(hint); it is tried again every few seconds")
            ]
        }
        guard let room = catalogRoom, room.isShort else { return [] }
        let free = room.free / 1_000_000
        guard room.free >= Self.leastRoom else {
            return [finding("fail", "catalog-full", "the disk of the catalog \(folder) is full", "free space on it")]
        }
        let text = "the disk of the catalog \(folder) is nearly full: \(free) MB are free"
        let hint = "free space on it, or remove old versions: packhorse catalog prune"
        return [finding("warn", "catalog-nearly-full", text, hint)]
    }

    /// The first package that waits for the catalog after a failed attempt.
    private func unpublished() -> (job: JobID, package: String, Trouble)? {
        for job in scheduler.jobIDs where scheduler.isLiving(job) {
            for package in scheduler.packages(of: job) where package.state == .publishing || package.state == .manifest
            {
                if let trouble = package.trouble, Self.catalogCauses.contains(trouble.cause) {
                    return (job, package.id, trouble)
                }
            }
        }
        return nil
    }

    private func scheduleFindings() -> [PBHealthFinding] {
        scheduler.allSchedules.compactMap { schedule in
            if let trouble = schedule.trouble {
                let text =
                    "the last firing of schedule '\(schedule.id)' made no job: \(trouble.detail) [\(trouble.cause)]"
                let hint = "correct it, and try it: packhorse schedule run \(schedule.id)"
                return finding("warn", "schedule-failed", text, hint)
            }
            guard let job = scheduler.summary(of: schedule.lastJob), job.state == .failed else { return nil }
            let text = "job \(job.id), the last of schedule '\(schedule.id)', failed: \(job.reason)"
            return finding("warn", "schedule-failed", text, "packhorse status \(job.id); packhorse retry \(job.id)")
        }
    }

    private func originFindings() -> [PBHealthFinding] {
        scheduler.origins(now: now).filter { $0.state == "blocked" || $0.state == "broken" }.map { origin in
            let seconds = (origin.blockedFor + 999) / 1_000
            let text =
                origin.state == "blocked"
                ? "origin '\(origin.name)' asked to wait: it gets no request for \(seconds) s"
                : "origin '\(origin.name)' does not answer; it is tried again in \(seconds) s"
            return finding("warn", "origin-\(origin.state)", text, "packhorse origins shows its state")
        }
    }

    private func finding(_ level: String, _ code: String, _ text: String, _ hint: String) -> PBHealthFinding {
        .make {
            $0.level = level
            $0.code = code
            $0.text = String(text.prefix(1_000))
            $0.hint = hint
        }
    }

    /// What is tried again until it heals.
    private static let catalogCauses: Set<String> = ["disk-full", "io"]
    /// Bytes below which a disk is called full: no package and hardly a list fits any more.
    private static let leastRoom: UInt64 = 1_000_000
}
