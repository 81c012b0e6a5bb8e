import ArgumentParser
import Blobs
internal import CommandSupport
import Files
import Foundation
import ZeroMQ

/// `packhorse-bench workers`: many simulated workers in one process, for `ops/bench/coordinator`.
///
/// Each has its own connection and uses the protocol of a real worker. It makes a tiny shard instead of fetching tiles,
/// and takes no merges. Prints a line whenever the coordinator has acknowledged another twentieth, then a summary as
/// JSON.
struct WorkersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "workers", abstract: "Simulate many workers against a coordinator.")

    @Option(help: "The coordinator's work endpoint.") var connect: String
    @Option(help: "The blob folder shared with the coordinator.") var blobs: String
    @Option(help: "Connections.") var workers: Int = 1_000
    @Option(help: "Batches that each worker requests at a time.") var credit: UInt32 = 2
    @Option(help: "Batches after which to end.") var batches: Int
    @Option(help: "The coordinator's process, whose time and memory are printed.") var pid: Int32
    @Option(help: "Seconds after which to give up.") var limit: Double = 600
    @OptionGroup var keys: KeyOptions

    func run() async throws {
        let security = try keys.client(as: .worker)
        // A separate thread: the swarm blocks, and its sockets belong to one thread.
        let sum = try await FileWork.run { try simulate(security) }
        Console.result(sum)
    }

    private func simulate(_ security: LinkSecurity) throws -> JSONDocument {
        let store = try FolderBlobStore(URL(filePath: blobs), create: false)
        let herd = try SimulatedWorkers(
            DealerSwarm(connect: connect, security: security, count: workers), store: store, count: workers,
            credit: credit)
        defer { herd.swarm.close() }
        let end = ContinuousClock.now + .seconds(limit)
        try herd.greet(until: end)
        let idle = ProcessSample(pid)
        Console.note("\(workers) workers are connected; coordinator: \(idle.memory >> 20) MiB")
        try herd.takeWork()
        var last = idle
        var mark = 0
        let started = ContinuousClock.now
        while herd.acknowledged < batches, ContinuousClock.now < end {
            try herd.serveFrames()
            guard herd.acknowledged >= (mark + 1) * max(1, batches / 20) else { continue }
            mark = herd.acknowledged / max(1, batches / 20)
            last = ProcessSample(pid)
            Console.note(
                "\(herd.acknowledged) of \(batches) batches, \(herd.tiles) tiles: coordinator \(last.memory >> 20) MiB, "
                    + "\(String(format: "%.1f", last.cpu - idle.cpu)) s of CPU, \(herd.stale) stale")
        }
        let seconds = (ContinuousClock.now - started) / .seconds(1)
        last = ProcessSample(pid)
        let done = Double(max(1, herd.acknowledged))
        return try JSONText.pretty(
            Sum(
                workers: workers, batches: herd.acknowledged, tiles: herd.tiles, stale: herd.stale, seconds: seconds,
                batchesPerSecond: done / seconds,
                coordinatorCPUMicrosecondsPerBatch: (last.cpu - idle.cpu) / done * 1e6,
                coordinatorMiBIdle: idle.memory >> 20, coordinatorMiBEnd: last.memory >> 20,
                coordinatorMiBPeak: last.peak >> 20))
    }

    private struct Sum: Encodable {
        let workers: Int
        let batches: Int
        let tiles: UInt64
        let stale: Int
        let seconds: Double
        let batchesPerSecond: Double
        let coordinatorCPUMicrosecondsPerBatch: Double
        let coordinatorMiBIdle: UInt64
        let coordinatorMiBEnd: UInt64
        let coordinatorMiBPeak: UInt64
    }
}

/// Values of a process from /proc.
struct ProcessSample {
    /// User and system time in seconds.
    let cpu: Double
    /// Resident memory in bytes.
    let memory: UInt64
    /// Largest resident memory so far in bytes.
    let peak: UInt64

    init(_ pid: Int32) {
        // An ended process has no numbers: they are 0.
        let stat = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
        // After the name in brackets: state is field 3, utime and stime are 14 and 15, in ticks of a hundredth of a
        // second.
        let fields = (stat.split(separator: ")").last ?? "").split(separator: " ")
        cpu = fields.count > 12 ? ((Double(fields[11]) ?? 0) + (Double(fields[12]) ?? 0)) / 100 : 0
        // A process that has ended counts as 0 bytes.
        let status = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        func kibibytes(_ name: String) -> UInt64 {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
            return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { UInt64($0) } ?? 0
        }
        memory = kibibytes("VmRSS:") << 10
        peak = kibibytes("VmHWM:") << 10
    }
}
