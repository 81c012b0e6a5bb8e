import ArgumentParser
internal import CommandSupport
import Errors
import Files
import Foundation
internal import TextFormats

/// `packhorse up`: coordinator, workers and gateway on this machine, in one command.
struct UpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Run everything on this machine: a coordinator, workers, and the gateway with its web page.",
        discussion: """
            Prints the address of the page with a new operator token when everything is up. Other commands reach the coordinator
            without options. Standard error is the log of all processes. A process that ends is started again after 1 to 30 s.
            Everything listens on 127.0.0.1 only.

            Ctrl-C or SIGTERM ends the gateway, then the workers, which hand back their work, then the coordinator. A second one
            ends them at once. The next start continues all jobs.

            Workers need the variables that a tileset names, so set them before.

            Examples:
              packhorse up
              packhorse up --data /srv/packhorse --workers 4
              packhorse up --tileset tiles.yaml --port 8080
              packhorse up --notify https://hooks.example.com/maps --metrics-port 9470
              packhorse up --no-gateway
            """)

    @Option(help: ArgumentHelp("Folder of state, tiles and catalog; must be on a local disk.", valueName: "folder"))
    var data = "packhorse-data"
    @Option(help: ArgumentHelp("Worker processes, 1 to 64. Default: the number of cores.", valueName: "number"))
    var workers: Int?
    @Option(help: "Port of the gateway.") var port = 7480
    @Option(help: "Port for commands. With another one, they need --coordinator tcp://127.0.0.1:PORT.")
    var controlPort = 7470
    @Flag(help: "Run only the coordinator and workers.") var noGateway = false
    @Option(
        help: ArgumentHelp(
            "A tileset that may be submitted over HTTP and on the page; may be repeated.", valueName: "tileset"))
    var tileset: [String] = []
    @Option(
        help: ArgumentHelp(
            "Absolute URL of the catalog for clients, as for 'packhorse coordinator'. Default with --port: http://localhost:PORT/.",
            valueName: "url"))
    var catalogURL: String?
    @Option(
        help: ArgumentHelp("Sign catalog.json with this key. Default: $PACKHORSE_SIGNING_KEY.", valueName: "file"))
    var signingKey: String?
    @Option(
        help: ArgumentHelp(
            "Disk space for the tiles of finished jobs, as for 'packhorse coordinator'.", valueName: "size"))
    var keepTiles: String?
    @Option(
        help: ArgumentHelp(
            "How long a worker may make no progress, as for 'packhorse coordinator'.", valueName: "seconds"))
    var leaseSeconds: Double?
    @Option(
        help: ArgumentHelp(
            "The most tiles of an extract, as for 'packhorse gateway'. Default: 25000, a country such as France to zoom 12.",
            valueName: "tiles"))
    var extractTiles: UInt64?
    @Option(
        help: ArgumentHelp(
            "Folder with MapLibre GL JS for the maps of the page, as for 'packhorse gateway'.", valueName: "folder"))
    var webLib: String?
    @Option(
        help: ArgumentHelp(
            "Serve the metrics of the coordinator at this port, and those of the workers at the following ones; path /metrics. Those of the gateway are at its own address.",
            valueName: "port"))
    var metricsPort: Int?
    @OptionGroup var configurationOptions: ConfigurationOptions
    @OptionGroup var notifyOptions: NotifyOptions
    @Flag(help: "Print the processes with their arguments, then stop.") var dryRun = false
    @OptionGroup var log: LogOptions

    func validate() throws {
        if let workers, !(1...64).contains(workers) { throw ValidationError("--workers must be between 1 and 64.") }
        for (option, number) in [("--port", port), ("--control-port", controlPort)] where !(1...65535).contains(number)
        {
            throw ValidationError("\(option) must be between 1 and 65535.")
        }
        guard noGateway || port != controlPort else {
            throw ValidationError("--port and --control-port must be different.")
        }
        if let metricsPort {
            guard (1...65535 - workerCount).contains(metricsPort) else {
                throw ValidationError("--metrics-port must be between 1 and \(65535 - workerCount).")
            }
            let taken = noGateway ? [controlPort] : [controlPort, port]
            guard !taken.contains(where: (metricsPort...metricsPort + workerCount).contains) else {
                throw ValidationError(
                    "--metrics-port takes the ports \(metricsPort) to \(metricsPort + workerCount); --port or --control-port is one of them."
                )
            }
        }
        guard !noGateway || extractTiles == nil else {
            throw ValidationError("--extract-tiles is for the gateway, which --no-gateway leaves out.")
        }
        guard !noGateway || webLib == nil else {
            throw ValidationError("--web-lib is for the gateway, which --no-gateway leaves out.")
        }
        try WebLibrary.check(webLib)
        guard !noGateway || tileset.isEmpty else {
            throw ValidationError("--tileset is for the gateway; with --no-gateway name the tileset in 'submit'.")
        }
        // The coordinator checks the values of these options, too; here they are refused before anything starts.
        if let keepTiles, Units.size(keepTiles) == nil {
            throw ValidationError("--keep-tiles '\(keepTiles)' is not a size; expected for example 50GB, 800MB or 0.")
        }
        if let leaseSeconds, !(2...3600).contains(leaseSeconds) {
            throw ValidationError("--lease-seconds must be between 2 and 3600.")
        }
    }

    func run() async throws {
        let plan = plan
        if dryRun { return plan.lines.forEach(Console.result) }
        Hangup.prepare()
        try ProcessLimits.require(.service)
        let missing = MissingFolders([plan.data, plan.sockets, plan.tokens])
        do {
            let lock = try await takeLock(of: plan.data)
            try LoopbackPort.requireFree(controlPort, option: "--control-port")
            if !noGateway { try LoopbackPort.requireFree(port, option: "--port") }
            for port in plan.metricsPorts { try LoopbackPort.requireFree(port, option: "--metrics-port") }
            _ = try notifyOptions.receivers()
            let run = try UpRun(
                plan, isJSON: log.logFormat == .json, logger: log.logger("up"), lock: lock)
            try await run.run()
        } catch {
            missing.removeEmpty(without: [Self.lockName])
            throw error
        }
    }

    private static let lockName = "up.lock"
    /// Tiles: more than a gateway allows, because the people at this page run the whole system.
    ///
    /// France has 17,000 to zoom 12.
    private static let usualExtract: UInt64 = 25_000

    private var workerCount: Int { workers ?? min(64, max(1, ProcessInfo.processInfo.activeProcessorCount)) }

    private var plan: UpPlan {
        let folder = URL(filePath: data, directoryHint: .isDirectory)
        var plan = UpPlan(
            data: folder, workers: workerCount, controlPort: controlPort, gatewayPort: noGateway ? nil : port,
            metricsPort: metricsPort)
        let isUsualPort = noGateway || port == 7480
        let options: [(String, String?)] = [
            ("--catalog-url", catalogURL ?? (isUsualPort ? nil : "http://localhost:\(port)/")),
            ("--signing-key", signingKey ?? Variable.value("PACKHORSE_SIGNING_KEY")),
            ("--keep-tiles", keepTiles),
            ("--lease-seconds", leaseSeconds.map { "\($0)" }),
        ]
        for case (let name, let value?) in options { plan.coordinatorArguments += [name, value] }
        plan.coordinatorArguments += notifyOptions.arguments
        plan.gatewayArguments = tileset.flatMap { ["--tileset", $0] }
        plan.gatewayArguments += ["--extract-tiles", "\(extractTiles ?? Self.usualExtract)"]
        if let webLib { plan.gatewayArguments += ["--web-lib", webLib] }
        plan.logArguments = ["--log-level", log.logLevel.rawValue, "--log-format", log.logFormat.rawValue]
        return plan
    }

    private func takeLock(of folder: URL) async throws -> FileHandle {
        try await FolderLock(
            file: folder.appending(path: Self.lockName),
            makeFolder: { try OutputLocation.makeFolder(folder, hint: "give --data a folder that can be created") },
            isHeld: { holder in
                CLIError(
                    .temporary, "another 'packhorse up' uses the data folder '\(folder.path)' (process \(holder))",
                    hint: "choose another folder with --data, or stop it with: kill \(holder)")
            },
            cannotLock: { number in
                CLIError(
                    .cannotCreate, "'\(folder.path)' cannot be written: \(String(cString: strerror(number)))",
                    hint: "choose a writable folder with --data")
            }
        ).take()
    }
}
