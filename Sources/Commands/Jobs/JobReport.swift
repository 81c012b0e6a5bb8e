/// The lines that tell a person how a job stands or ended.
enum JobReport {
    static func lines(_ job: JobView) -> [String] {
        var lines = [
            "job \(job.job)  \(job.label)  (\(job.kind), tileset \(job.tileset), zoom \(job.zoomMin)-\(job.zoomMax))",
            "state    \(job.state)" + (job.waiting.map { ", waits: \($0)" } ?? "")
                + (job.reason.map { ": \($0)" } ?? ""),
            "tiles    \(Units.count(job.tiles)): \(Units.count(job.stored)) stored, \(Units.count(job.empty)) empty, "
                + "\(Units.count(job.failed)) failed; \(Units.bytes(job.bytes))"
                + (job.reused > 0 ? "; \(Units.count(job.reused)) taken from shards, not asked for again" : ""),
            "batches  \(Units.count(job.batchesDone)) of \(Units.count(job.batches)) done"
                + (job.batchesDead > 0 ? ", \(Units.count(job.batchesDead)) given up" : ""),
            "time     \(Units.duration(seconds: job.elapsedSeconds))",
        ]
        if job.formats.count > 1 {
            let style = job.style.map { ", style \($0)" } ?? ""
            lines.append("formats  \(job.formats.joined(separator: ", "))\(style)")
        }
        if job.priority != 0 || job.weight != 1 {
            lines.insert("share    priority \(job.priority), weight \(job.weight)", at: 2)
        }
        for package in job.packages {
            var line = "package  \(package.id)  \(package.state)"
            if let version = package.version { line += "  version \(version)" }
            if let size = package.size { line += "  \(Units.bytes(size))" }
            if let tiles = package.tiles { line += "  \(Units.count(tiles)) tiles" }
            lines.append(line)
            if let path = package.path { lines.append("         \(path)") }
            for file in package.files {
                lines.append("         \(file.format)  \(Units.bytes(file.size))" + (file.path.map { "  \($0)" } ?? ""))
            }
        }
        if !job.failures.isEmpty {
            lines.append(
                "failed tiles" + (UInt64(job.failures.count) < job.failed ? " (the first \(job.failures.count))" : ""))
            lines += job.failures.map { "  \($0.tile)  \($0.cause)  \($0.detail)" }
        }
        return lines
    }

    /// The exit code that a job's end deserves.
    static func status(_ job: JobView) -> ExitStatus {
        switch job.state {
        case "done": .success
        case "cancelled": .badData
        case "failed": .badData
        default: .temporary
        }
    }
}
