import ArgumentParser
internal import CommandSupport
import Foundation
import MetricsServer
import ObjectStore
import S3
internal import TextFormats
import Worker

/// `packhorse worker`: fetches tiles and merges packages for a coordinator.
struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker",
        abstract: "Run a worker. Any number may run, and each can be stopped at any time.",
        discussion: """
            SIGTERM or Ctrl-C returns unfinished work and ends within ten seconds.
            Examples:
              packhorse worker --blobs ./data/blobs
              packhorse worker --blobs ./data/blobs --metrics unix:/run/packhorse/worker-1
              packhorse worker --connect tcp://10.0.0.5:7471 --keys keys --blobs /srv/packhorse/blobs
              packhorse worker --blobs s3://tiles/blobs --s3-endpoint https://s3.example.org
              packhorse worker --connect tcp://10.0.0.5:7471 --keys keys --scratch /var/tmp/packhorse
              packhorse worker --connect tcp://10.0.0.5:7471 --keys keys --bandwidth 2MB
              packhorse worker --blobs ./data/blobs --memory 2GB --label gpu-free
              packhorse worker --connect tcp://10.0.0.5:7471 --keys keys --until-idle 5m --time-limit 12h
              packhorse worker --connect tcp://10.0.0.5:7471,tcp://10.0.0.6:7471 --keys keys
            """)

    @Option(
        help: ArgumentHelp(
            "The coordinator's work endpoint. Several, repeated or comma-separated: the worker stays with the coordinator of the highest epoch. Default: $PACKHORSE_WORK, else tcp://127.0.0.1:7471.",
            valueName: "endpoint"))
    var connect: [String] = []
    @Option(
        help: ArgumentHelp(
            "The blob folder shared with the coordinator, or its s3://bucket/prefix. Without it, or with 'stream', blobs are transferred over the network.",
            valueName: "folder"))
    var blobs: String?
    @Option(
        help: ArgumentHelp(
            "The coordinator's blob endpoint. Default: the host of --connect with the port that the coordinator names.",
            valueName: "endpoint"))
    var blobEndpoint: String?
    @Option(
        help: ArgumentHelp(
            "When streaming: the folder for new shards and packages and for downloaded blobs. Default: packhorse in the system's temporary folder.",
            valueName: "folder"))
    var scratch: String?
    @Option(
        help: ArgumentHelp(
            "With streamed blobs or a bucket: MiB of unused downloaded blobs to keep, at most half of --scratch-limit.",
            valueName: "MiB"))
    var cache: UInt64 = 4096
    @Option(
        help: ArgumentHelp(
            "The most bytes per second from all tile servers and remote archives together, for example 2MB. Blobs are not counted. Default: no limit.",
            valueName: "bytes/s"))
    var bandwidth: String?
    @Option(
        help: ArgumentHelp(
            "Take no more work while the process uses more memory than this, at least 128MB; what runs is finished. Default: no limit.",
            valueName: "size"))
    var memory: String?
    @Option(
        help: ArgumentHelp(
            "With streamed blobs or a bucket: take no more work while new and downloaded blobs of this worker need more disk than this, at least 64MB. Default: no limit.",
            valueName: "size"))
    var scratchLimit: String?
    @Option(
        help: ArgumentHelp(
            "A word that jobs may ask for (submit --on), for example gpu-free; may be repeated.", valueName: "label"))
    var label: [String] = []
    @Option(help: "Batches processed at the same time, 1 to 256.") var slots: Int = 4
    @Option(help: "The name in 'packhorse workers'. Default: host name and process id.") var name: String?
    @Option(
        help: ArgumentHelp(
            "End with exit code 0 after this time without work: 30s, 5m, 1h. For batch systems. Default: wait without end.",
            valueName: "duration"))
    var untilIdle: String?
    @Option(
        help: ArgumentHelp(
            "End with exit code 0 within this time of the start, at least 30s: no work is taken that would not be finished, and the rest is returned 12 s before. Also as 12:00:00 or 1-00:00:00.",
            valueName: "duration"))
    var timeLimit: String?
    @OptionGroup var configurationOptions: ConfigurationOptions
    @OptionGroup var lifeline: LifelineOptions
    @OptionGroup var metrics: MetricsOptions
    @OptionGroup var blobOptions: BlobOptions
    @OptionGroup var keys: KeyOptions
    @OptionGroup var log: LogOptions

    func validate() throws {
        try blobOptions.check(blobs: blobs)
        try EndpointList.check(connect, option: "--connect")
        guard blobEndpoint == nil || EndpointList.addresses(connect).count < 2 else {
            throw ValidationError(
                "--blob-endpoint is of one coordinator, and --connect names several; omit it, and each names its own port."
            )
        }
        try EndpointOption.checkConnecting(blobEndpoint, option: "--blob-endpoint")
        guard (1...256).contains(slots) else { throw ValidationError("--slots must be between 1 and 256.") }
        guard cache <= 1 << 30 else { throw ValidationError("--cache must be at most 1073741824 MiB.") }
        _ = try ByteRate.parse(bandwidth, option: "--bandwidth")
        try LabelOptions.check(label, option: "--label")
        _ = try Self.size(memory, "--memory", least: Self.leastMemory)
        _ = try Self.size(scratchLimit, "--scratch-limit", least: Self.leastScratch)
        if scratchLimit != nil, let blobs, blobs != "stream", !S3Location.isMeant(by: blobs) {
            throw ValidationError(
                "--scratch-limit has no effect with --blobs FOLDER, where all files are in the folder that all share. Omit it."
            )
        }
        _ = try Self.seconds(untilIdle, "--until-idle", least: 1)
        _ = try Self.seconds(timeLimit, "--time-limit", least: 30)
    }

    /// A worker without work needs about 50 MB, and during a merge about 100 MB.
    private static let leastMemory: UInt64 = 128_000_000
    private static let leastScratch: UInt64 = 64_000_000

    private static func size(_ text: String?, _ option: String, least: UInt64) throws -> UInt64? {
        guard let text else { return nil }
        guard let size = Units.size(text), size >= least else {
            throw ValidationError(
                "\(option) '\(text.prefix(60))' is not a size of at least \(least / 1_000_000)MB; expected for example 2GB."
            )
        }
        return size
    }

    private static func seconds(_ text: String?, _ option: String, least: Double) throws -> Duration? {
        guard let text else { return nil }
        guard let seconds = Units.seconds(text), seconds >= least else {
            throw ValidationError(
                "\(option) '\(text.prefix(60))' is not a duration of at least \(Int(least)) s; expected for example 90s, 5m or 1h30m."
            )
        }
        return .milliseconds(Int64(seconds * 1000))
    }

    func run() async throws {
        let started = ContinuousClock.now
        Hangup.prepare()
        lifeline.watch()
        try ProcessLimits.require(.service)
        MallocArenas.limitToCores()
        let addresses = try EndpointList.resolve(connect, variable: "PACKHORSE_WORK", usual: "tcp://127.0.0.1:7471")
        var options = WorkerOptions(
            connect: addresses, security: try keys.client(as: .worker),
            blobs: blobs.flatMap { $0 == "stream" ? nil : URL(filePath: $0) }, slots: slots, name: name,
            build: "packhorse \(ProgramVersion.text)")
        options.blobEndpoint = blobEndpoint
        if let scratch {
            options.scratch = URL(filePath: scratch, directoryHint: .isDirectory)
            try OutputLocation.makeFolder(options.scratch)
        }
        options.labels = Set(label).sorted()
        options.limits.memory = try Self.size(memory, "--memory", least: Self.leastMemory)
        options.limits.scratch = try Self.size(scratchLimit, "--scratch-limit", least: Self.leastScratch)
        // Kept blobs alone must not stop the worker.
        options.cacheBytes = min(cache << 20, (options.limits.scratch ?? .max) / 2)
        options.bandwidth = try ByteRate.parse(bandwidth, option: "--bandwidth")
        options.allowPlain = keys.insecure
        options.beforeMerge = { MallocArenas.giveBack() }
        options.untilIdle = try Self.seconds(untilIdle, "--until-idle", least: 1)
        options.deadline = try Self.seconds(timeLimit, "--time-limit", least: 30).map { started + $0 }
        options.onReady = { ServiceManager.shared.ready("works for \(addresses.joined(separator: ", "))") }
        options.onRound = { ServiceManager.shared.pulse() }
        if let blobs, S3Location.isMeant(by: blobs) {
            let cache = FileManager.default.temporaryDirectory.appending(path: "packhorse-blobs")
            options.openStore = { [blobOptions, kept = options.cacheBytes] in
                try await blobOptions.open(blobs, folder: cache, create: false, keeping: kept)
            }
        }
        let logger = log.logger("worker")
        let service = WorkerService(options, logger: logger)
        try await metrics.serve(logger) { server in
            server?.serve { service.metricsPage() }
            try await ServiceRunner.run(logger, reload: Configuration.reloadSteps, service)
        }
    }
}
