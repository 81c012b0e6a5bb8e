import ArgumentParser
import Foundation
import ObjectStore
import Worker

/// `packhorse worker`: fetches tiles and merges packages for a coordinator.
struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker",
        abstract: "Run a worker; start as many as you like, stop them whenever you like.",
        discussion: """
            SIGTERM or Ctrl-C returns unfinished work and ends within ten seconds.
            Examples:
              packhorse worker --blobs ./data/blobs
              packhorse worker --connect tcp://10.0.0.5:7471 --keys keys --blobs /srv/packhorse/blobs
              packhorse worker --blobs s3://tiles/blobs --s3-endpoint https://s3.example.org
            """)

    @Option(
        help: ArgumentHelp(
            "The coordinator's work endpoint. Default: $PACKHORSE_WORK, else tcp://127.0.0.1:7471.",
            valueName: "endpoint"))
    var connect: String?
    @Option(help: "The blob folder shared with the coordinator, or its s3://bucket/prefix.") var blobs: String
    @Option(help: "Batches worked on at the same time, 1 to 256.") var slots: Int = 4
    @Option(help: "What 'packhorse workers' calls it. Default: host name and process id.") var name: String?
    @OptionGroup var blobOptions: BlobOptions
    @OptionGroup var keys: KeyOptions
    @OptionGroup var log: LogOptions

    func validate() throws {
        try blobOptions.check(blobs: blobs)
        guard (1...256).contains(slots) else { throw ValidationError("--slots must lie between 1 and 256.") }
    }

    func run() async throws {
        let endpoint = connect ?? ProcessInfo.processInfo.environment["PACKHORSE_WORK"] ?? "tcp://127.0.0.1:7471"
        var options = WorkerOptions(
            connect: endpoint, security: try keys.client(as: .worker), blobs: URL(filePath: blobs), slots: slots,
            name: name,
            build: "packhorse \(CommandLineTool.version)")
        options.allowPlain = keys.insecure
        if S3Location.isMeant(by: blobs) {
            let cache = FileManager.default.temporaryDirectory.appending(path: "packhorse-blobs")
            options.openStore = { [blobs, blobOptions] in
                try await blobOptions.open(blobs, folder: cache, create: false)
            }
        }
        let logger = log.logger("worker")
        try await ServiceRunner.run(logger, WorkerService(options, logger: logger))
    }
}
