internal import ClusterClient
import Errors
internal import TextFormats
import Wire

/// The lines that report the state or the end of a job: a summary, then what is not done.
enum JobReport {
    /// Number of packages that are listed by default.
    private static let maxPackages = 20

    /// Whether tiles of one place do not fit the job's limit of file sizes.
    static func isAboveFileLimit(_ job: PBJobStatus) -> Bool {
        job.reason.contains(FailureCause.packageTooLarge.rawValue) && job.reason.contains("--max-file")
    }

    /// - Parameter all: Whether every package and every failed tile gets a line. Otherwise equal causes are grouped,
    ///   and of more than 20 packages only the unfinished ones are listed.
    static func lines(_ job: PBJobStatus, all: Bool = false) -> [String] {
        var lines = [
            "job \(job.job)  \(job.label)  (\(job.shownKind), tileset \(job.tileset), zoom \(job.zooms))",
            "state    \(job.state)" + (job.waiting.isEmpty ? "" : ", waits: \(job.waiting)")
                + (job.reason.isEmpty ? "" : ": \(job.reason)"),
            "tiles    \(Units.count(job.tiles)): \(Units.count(job.stored)) stored, \(Units.count(job.empty)) empty, "
                + "\(Units.count(job.failed)) \(onlyLeavesOut(job) ? "left out" : "failed"); \(Units.bytes(job.bytes))"
                + (job.reused > 0 ? "; \(Units.count(job.reused)) reused from shards" : ""),
            origin(job),
            "batches  \(Units.count(job.batchesDone)) of \(Units.count(job.batches)) done"
                + (job.batchesFailed > 0 ? ", \(Units.count(job.batchesFailed)) failed" : ""),
            "time     \(Units.duration(seconds: job.elapsedSeconds))" + times(job),
        ]
        if !job.sourceBuild.isEmpty {
            let date = job.dataDate.isEmpty ? "" : ", data of \(job.dataDate)"
            let version = job.sourceVersion.isEmpty ? "" : ", \(job.sourceVersion)"
            lines.append("build    \(job.sourceBuild)\(date), \(job.sourceURL)\(version)")
        }
        if !job.blockList.isEmpty { lines.append("blocks   list \(job.blockList)") }
        if job.changedOnly {
            lines.append(
                "changed  the origin was asked for the \(Units.count(job.changedTiles, of: "tile")) of a list and for tiles that were not kept; the rest was not asked"
            )
        }
        if job.summary {
            lines.append(
                "summary  \(Units.count(Int(job.packagesTotal), of: "package")); the details of a job this old are no longer kept"
            )
        }
        if !job.formats.isEmpty, job.allFormats != ["mbtiles"] {
            let style = job.style.isEmpty ? "" : ", style \(job.style)"
            lines.append("formats  \(job.allFormats.joined(separator: ", "))\(style)")
        }
        if !job.labels.isEmpty { lines.append("labels   \(job.labels.joined(separator: ", "))") }
        if job.priority != 0 || job.weight != 1 {
            lines.insert("share    \(priority(job)), weight \(job.weight)", at: 2)
        }
        return lines + packages(job, all: all) + job.steps.map(line) + failures(job, all: all)
    }

    /// What was received, what of it for nothing, and what did not have to be sent.
    private static func origin(_ job: PBJobStatus) -> String {
        var line = "origin   \(Units.bytes(job.received)) received"
        if job.receivedAgain > 0 { line += ", \(Units.bytes(job.receivedAgain)) of it for nothing: as before" }
        if job.notSent > 0 { line += "; \(Units.bytes(job.notSent)) unchanged and not sent" }
        if job.notModified > 0 { line += "; \(Units.count(job.notModified, of: "tile")) revalidated, unchanged" }
        return line
    }

    private static func line(_ step: PBStepStatus) -> String {
        var line = "step     \(step.step)  \(step.state)"
        if !step.result.isEmpty { line += "  \(step.result)" }
        if step.attempts > 0, step.state != "done" {
            line += "  \(Units.count(Int(step.attempts), of: "failed attempt"))"
        }
        if let time = WallTime.iso(step.retryMs) { line += ", next \(time)" }
        return line + (step.cause.isEmpty ? "" : ": \(step.cause): \(step.detail)")
    }

    private static func packages(_ job: PBJobStatus, all: Bool) -> [String] {
        guard !all, job.packages.count > maxPackages else { return job.packages.flatMap(lines) }
        let states = Dictionary(grouping: job.packages, by: \.state).mapValues(\.count)
        let counts = states.sorted { $0.key < $1.key }.map { "\(Units.count($0.value)) \($0.key)" }
        let bytes = job.packages.reduce(0) { $0 + $1.size }
        let open = job.packages.filter { !["published", "unchanged"].contains($0.state) }
        var lines = [
            "packages \(Units.count(job.packages.count)): \(counts.joined(separator: ", "))"
                + (bytes > 0 ? "; \(Units.bytes(bytes))" : "")
        ]
        lines += open.prefix(maxPackages).flatMap(Self.lines)
        let hidden = job.packages.count - min(open.count, maxPackages)
        return lines + ["         \(Units.count(hidden, of: "package")) not shown: packhorse status \(job.job) --all"]
    }

    private static func lines(_ package: PBPackageStatus) -> [String] {
        var line = "package  \(package.id)  \(package.state)"
        if package.version > 0 { line += "  version \(package.version)" }
        if package.size > 0 { line += "  \(Units.bytes(package.size))" }
        if package.tiles > 0 { line += "  \(Units.count(package.tiles, of: "tile"))" }
        return [line] + (package.remark.isEmpty ? [] : ["         \(package.remark)"])
            + (package.path.isEmpty || package.files.contains { $0.part > 0 } ? [] : ["         \(package.path)"])
            + package.files.filter { $0.path.isEmpty || $0.path != package.path || $0.part > 0 }.map { file in
                "         \(file.part > 0 ? "part \(file.part)  " : "")\(file.format)  \(Units.bytes(file.size))"
                    + (file.path.isEmpty ? "" : "  \(file.path)")
            }
    }

    /// The failed tiles, and those of an archive that are left out, grouped by cause unless `all` is set.
    static func failures(_ job: PBJobStatus, all: Bool = false) -> [String] {
        let isPart = UInt64(job.failures.count) < job.failed
        let part = isPart ? " (the first \(Units.count(job.failures.count)))" : ""
        let (leftOut, failed) = (job.failures.filter(isLeftOut), job.failures.filter { !isLeftOut($0) })
        var lines: [String] = []
        for (title, tiles) in [("failed tiles", failed), ("tiles of the archive that are left out", leftOut)]
        where !tiles.isEmpty {
            lines.append(title + part)
            // The title says the cause of those that are left out.
            let words = tiles.map { ($0.tile.text, isLeftOut($0) ? $0.detail : "\($0.cause)  \($0.detail)") }
            let listed = all ? words.map { "\($0)  \($1)" } : EqualCauses.lines(words, of: "tile")
            lines += listed.map { "  \($0)" }
        }
        return lines
    }

    /// Whether all failed tiles that are named are broken in the archive.
    static func onlyLeavesOut(_ job: PBJobStatus) -> Bool {
        !job.failures.isEmpty && job.failures.allSatisfy(isLeftOut)
    }

    /// Whether it is a tile of an archive whose body is no tile (docs/decisions/0083).
    private static func isLeftOut(_ failure: PBTileFailure) -> Bool {
        failure.cause == FailureCause.leftOut.rawValue
    }

    /// A paused job has the priority -1 - p, where p is its priority after resuming.
    private static func priority(_ job: PBJobStatus) -> String {
        job.priority < 0 ? "priority \(-1 - job.priority) when it is resumed" : "priority \(job.priority)"
    }

    /// When it was submitted, started and ended, as far as known.
    private static func times(_ job: PBJobStatus) -> String {
        let known = [("submitted", job.submittedMs), ("started", job.startedMs), ("ended", job.endedMs)]
        return known.compactMap { name, time in WallTime.iso(time).map { "; \(name) \($0)" } }.joined()
    }

    /// The exit code for a step that failed: that of the command which does the same.
    private static func status(_ step: PBStepStatus) -> ExitStatus {
        let known = ExitStatus(rawValue: Int32(clamping: step.exitCode)) ?? .badData
        return known == .success ? .badData : known
    }

    /// The exit code for the end of a job.
    static func status(_ job: PBJobStatus) -> ExitStatus {
        switch job.state {
        case "done": job.nextStep.map(status) ?? .success
        case "cancelled": .badData
        case "failed": .badData
        default: .temporary
        }
    }
}
