import Foundation
import Logging
import Packages
import Scheduling
import Shards
import Telemetry
import Wire

extension ControlHandlers {
    /// How a job in memory stands, or `nil`.
    ///
    /// - Parameter absence: What `state.scheduler.absence` says, where that is known.
    func status(_ id: JobID, maxPackages: Int, absence: String? = nil) -> PBJobStatus? {
        guard let summary = state.scheduler.summary(of: id), let spec = state.jobs.spec(of: id),
            let times = state.jobs.times(of: id)
        else { return nil }
        let packages = state.scheduler.packages(of: id)
        var status = WireConversions.status(
            summary, spec: spec, times: times, packages: Array(packages.prefix(maxPackages)), wall: environment.wall)
        status.packagesTotal = UInt32(clamping: packages.count)
        status.waiting = state.scheduler.waiting(of: id)
        if status.waiting.isEmpty { status.waiting = state.scheduler.hindrance(of: id, now: environment.now) }
        if status.waiting.isEmpty { status.waiting = state.scheduler.missingLabels(of: id, now: environment.now) }
        if status.waiting.isEmpty {
            let missing = state.scheduler.missingFormats(of: id)
            if !missing.isEmpty { status.waiting = "no connected worker writes \(missing.joined(separator: ", "))" }
        }
        if status.waiting.isEmpty, state.scheduler.isLiving(id) {
            status.waiting = absence ?? state.scheduler.absence(now: environment.now)
        }
        if status.waiting.isEmpty { status.waiting = state.scheduler.stallReason(of: id, now: environment.now) }
        if status.waiting.isEmpty, state.scheduler.isPlanning(id) {
            status.waiting = "a worker plans which ranges of the archive are requested"
        }
        if status.waiting.isEmpty, summary.state == .done { status.waiting = state.steps.all(of: id).progress }
        // Changed in place, the message would copy its whole list for each package (0.35 s for a job of 600).
        let folder = environment.catalogs.folder(of: spec)
        var answered = status.packages
        status.packages = []
        for index in answered.indices { makeAbsolute(&answered[index], in: folder) }
        status.packages = answered
        return status
    }

    /// Paths are stored relative to the catalog, so that it can be moved; they are reported as absolute paths.
    private func makeAbsolute(_ package: inout PBPackageStatus, in folder: URL) {
        guard !package.path.isEmpty else { return }
        let path = folder.appending(path: package.path).standardizedFileURL.path
        package.path = path
        var files = package.files
        for index in files.indices {
            let format = PackageFormat(rawValue: files[index].format)
            if let path = format?.path(ofPackage: path, part: files[index].part) { files[index].path = path }
        }
        package.files = files
    }

    /// Answers with the status of a job, or with the summary of a forgotten one.
    func getJob(_ body: PBGetJob, _ replyAddress: ReplyAddress) {
        let (id, limit) = (JobID(body.job), Int(min(body.failures, 10_000)))
        guard var status = status(id, maxPackages: 4_096) else {
            return answer(replyAddress, about: "The history of jobs") { store in
                try await store.history(of: id).map { .jobStatus($0) } ?? WireConversions.problem(.unknown(id))
            }
        }
        status.steps = steps(of: id).map(WireConversions.step)
        guard limit > 0 else { return state.reply(.jobStatus(status), to: replyAddress) }
        answer(replyAddress, about: "The job's failures") { [status] store in
            var status = status
            status.failures = try await store.failures(of: id, limit: limit).map(WireConversions.failure)
            return .jobStatus(status)
        }
    }
}
