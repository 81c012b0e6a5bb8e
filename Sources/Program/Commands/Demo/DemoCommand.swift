import ArgumentParser
internal import CatalogTransfer
internal import ClusterClient
internal import CommandSupport
import DemoWorld
import Errors
import Foundation
import Logging
import Packages
import Regions
internal import TextFormats
import Tiles
import Wire

/// `packhorse demo`: a complete job on the built-in world, through real processes.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract:
            "Build a country of the built-in world with a coordinator and workers on this machine; no network needed.",
        discussion: "Example: packhorse demo LV --zoom 0-12 --workers 4")

    @Argument(help: "Regions by id or name.") var areas: [String] = ["EE"]
    @Option(help: "Zoom range.") var zoom: String = "0-14"
    @Option(help: "Worker processes.") var workers: Int = 3
    @Option(help: "Folder for shards, catalog and logs; reused if it exists.") var folder: String = "demo-data"
    @OptionGroup var progress: ProgressOptions

    func validate() throws {
        guard (1...64).contains(workers) else { throw ValidationError("--workers must be between 1 and 64.") }
    }

    func run() async throws {
        try ProcessLimits.require(.service)
        let command = self
        try await Interruptible.run { try await command.build() }
    }

    private func build() async throws {
        let tree = try RegionTree.load(imports: nil)
        let regions = try areas.map { try AreaReader.named($0, in: tree) }
        let zooms = try ZoomRange(parsing: zoom)
        try JobDraft.checkUnique(regions)
        let cluster = try LocalCluster(folder: URL(filePath: folder, directoryHint: .isDirectory), workers: workers)
        Console.note("1/4  the demo world: vector tiles of the embedded boundaries, over HTTP")
        let (origin, serving) = try await Self.serveWorld(tree, maxZoom: max(14, zooms.max))
        defer { serving.cancel() }
        Console.note("2/4  a coordinator and \(Units.count(workers, of: "worker")), logs in \(cluster.logs.path)")
        let command = self
        try await cluster.run(isHasty: false) { clients in
            Console.note("3/4  \(regions.map(\.label).joined(separator: ", ")), zoom \(zooms), from \(origin)")
            try await command.build(regions, zooms, from: origin, with: clients)
        }
        Console.note("4/4  verifying every byte of the catalog")
        let check = try await CatalogCheck.run(try CatalogSource(cluster.catalog.path))
        Console.note("     \(check.summary)")
        let paths = check.paths.map { cluster.catalog.appending(path: $0).path }
        if !progress.json { for path in paths { Console.result(path) } }
        Console.note("show its contents:  packhorse inspect \(paths.last ?? "")")
    }

    /// Starts the built-in world on a free port.
    ///
    /// - Returns: Its address, and the task that serves until it is cancelled.
    private static func serveWorld(
        _ tree: RegionTree, maxZoom: Int
    ) async throws -> (url: String, task: Task<Void, any Error>) {
        let logger = Logger(label: "packhorse.demo-origin") { _ in SwiftLogNoOpLogHandler() }
        let server = DemoWorldServer(tree: tree, maxZoom: maxZoom, logger: logger)
        let (ready, announce) = AsyncStream.makeStream(of: Int.self)
        // The task intentionally outlives this call. The caller cancels it at the end of the demo.
        let task = Task {
            defer { announce.finish() }
            try await server.run { announce.yield($0) }
        }
        for await port in ready { return ("http://127.0.0.1:\(port)", task) }
        try await task.value
        throw CLIError(.software, "the demo world ended before it was ready")
    }

    private func build(
        _ areas: [Area], _ zooms: ZoomRange, from origin: String, with clients: LocalCluster.Clients
    ) async throws {
        let tileset = try await TilesetReader.read("\(origin)/tiles.json", language: nil)
        let draft = try JobDraft(areas: areas, zooms: zooms, tileset: tileset)
        let request = draft.request(SubmitPolicy(requestID: UUID().uuidString))
        let job = try await clients.orders.submit(request).job
        try await JobWatcher(client: clients.watching, style: progress.style).finish(job)
    }
}
