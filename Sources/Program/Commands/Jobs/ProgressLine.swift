internal import ClusterClient
package import CommandSupport
internal import TextFormats
package import Wire

/// The progress of a job as a log line and as a progress bar.
package enum ProgressLine {
    /// The line for a log or a file.
    package static func plain(_ job: PBJobStatus, _ meter: RateMeter) -> String {
        var parts = ["job \(job.job) \(job.label)", job.state + (job.waiting.isEmpty ? "" : " (\(job.waiting))")]
        if job.state == "fetching" {
            parts.append("\(percent(job.fraction)) \(Units.count(job.settled))/\(Units.count(job.tiles)) tiles")
            if let rate = meter.rate { parts.append("\(Units.count(UInt64(rate))) tiles/s") }
            if let left = remaining(job, meter) { parts.append("ETA \(Units.duration(seconds: left))") }
        }
        parts.append(Units.bytes(job.bytes))
        if job.failed > 0 { parts.append("\(Units.count(job.failed)) failed") }
        return parts.joined(separator: " · ")
    }

    /// The same for a terminal, the most important facts first.
    package static func bar(_ job: PBJobStatus, _ meter: RateMeter) -> ProgressBar {
        // What a job waits for is the first that a person wants to know.
        var facts = job.waiting.isEmpty ? [] : [job.waiting]
        if job.state == "fetching" { facts.append(percent(job.fraction)) } else { facts.append(job.state) }
        if job.failed > 0 { facts.append("\(Units.count(job.failed)) failed") }
        if job.state == "fetching" {
            if let left = remaining(job, meter) { facts.append("ETA \(Units.duration(seconds: left))") }
            facts.append("\(Units.count(job.settled))/\(Units.count(job.tiles)) tiles")
            if let rate = meter.rate { facts.append("\(Units.count(UInt64(rate))) tiles/s") }
        }
        return ProgressBar(
            "job \(job.job) \(job.label)", fraction: job.fraction, facts: facts + [Units.bytes(job.bytes)])
    }

    /// Seconds to the end; `nil` for a job that waits, whose end nobody knows.
    private static func remaining(_ job: PBJobStatus, _ meter: RateMeter) -> Double? {
        job.waiting.isEmpty ? meter.remaining(to: job.tiles) : nil
    }

    /// Whole percent, rounded down: 100 % means complete.
    private static func percent(_ fraction: Double) -> String {
        "\(Int(fraction * 100)) %"
    }
}
