import Wire

/// One line that says how far a job is.
package enum ProgressLine {
    /// The line for a log or a file.
    package static func plain(_ job: JobView, _ meter: RateMeter) -> String {
        var parts = ["job \(job.job) \(job.label)", job.state + (job.waiting.map { " (\($0))" } ?? "")]
        if job.state == "fetching" {
            parts.append("\(percent(job.fraction)) \(Units.count(job.settled))/\(Units.count(job.tiles)) tiles")
            if let rate = meter.rate { parts.append("\(Units.count(UInt64(rate))) tiles/s") }
            if let left = meter.remaining(to: job.tiles) { parts.append("ETA \(Units.duration(seconds: left))") }
        }
        parts.append(Units.bytes(job.bytes))
        if job.failed > 0 { parts.append("\(Units.count(job.failed)) failed") }
        return parts.joined(separator: " · ")
    }

    /// The line for a terminal: the same with a bar.
    package static func bar(_ job: JobView, _ meter: RateMeter, width: Int = 24) -> String {
        let filled = Int(job.fraction * Double(width))
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        return "\(bar) \(plain(job, meter))"
    }

    /// Whole percents, rounded down: 100 % means all of it.
    private static func percent(_ fraction: Double) -> String {
        "\(Int(fraction * 100)) %"
    }
}
