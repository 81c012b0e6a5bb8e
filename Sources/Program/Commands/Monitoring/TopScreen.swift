internal import ClusterClient
internal import CommandSupport
internal import TextFormats
import Wire

/// The content of `packhorse top` at one time.
package struct TopScreen {
    let health: PBHealth
    let jobs: [PBJobStatus]
    let meters: [UInt64: RateMeter]
    let workers: [PBWorkerStatus]

    /// The screen, cut to `height` lines: open jobs first, then workers, then the last ended jobs.
    func lines(height: Int) -> [String] {
        let open = jobs.filter { !$0.isOver }
        let busy = workers.count { $0.state == "busy" }
        let silent = workers.count(where: \.isSilent)
        var lines = [
            "packhorse \(health.state), epoch \(health.epoch): \(Units.count(open.count, of: "open job")), "
                + "\(Units.count(workers.count, of: "worker")), \(busy) busy"
                + (silent > 0 ? ", \(silent) silent" : ""), "",
        ]
        lines += jobTable(open)
        lines += ["", ""].prefix(1) + workerTable
        let ended = jobs.filter(\.isOver).suffix(5)
        if !ended.isEmpty { lines += [""] + endedTable(ended.reversed()) }
        guard lines.count > height, height > 1 else { return lines }
        return lines.prefix(height - 1) + ["… \(lines.count - height + 1) more lines"]
    }

    private func jobTable(_ open: [PBJobStatus]) -> [String] {
        var table = Table("job", "state", "done", "tiles", "rate", "left", "failed", "label")
        for job in open {
            let meter = meters[job.job]
            table.add(
                "\(job.job)", job.state + (job.waiting.isEmpty ? "" : " (\(job.waiting.prefix(60)))"),
                "\(Int(job.fraction * 100)) %",
                "\(Units.count(job.settled))/\(Units.count(job.tiles))",
                meter?.rate.map { "\(Units.count(UInt64(max($0, 0))))/s" } ?? "-",
                meter?.remaining(to: job.tiles).map { Units.duration(seconds: $0) } ?? "-", Units.count(job.failed),
                String(job.label.prefix(40)))
        }
        return table.lines
    }

    private var workerTable: [String] {
        var table = Table("worker", "state", "leases", "tiles", "bytes", "silent", "host")
        for worker in workers {
            table.add(
                worker.name, worker.reason.isEmpty ? worker.state : "\(worker.state): \(worker.reason.prefix(60))",
                "\(worker.leases)", Units.count(worker.tiles), Units.bytes(worker.bytes),
                "\(worker.silentMs / 1_000) s", worker.host)
        }
        return table.lines
    }

    private func endedTable(_ ended: [PBJobStatus]) -> [String] {
        var table = Table("ended", "state", "tiles", "size", "took", "label")
        for job in ended {
            table.add(
                "\(job.job)", job.state, Units.count(job.tiles), Units.bytes(job.bytes),
                Units.duration(seconds: job.elapsedSeconds), String(job.label.prefix(40)))
        }
        return table.lines
    }
}
