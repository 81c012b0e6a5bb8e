import ArgumentParser
internal import CommandSupport
import DemoWorld
import Logging
import Regions

/// `packhorse demo-origin`: the built-in world as a tile server.
struct DemoOriginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo-origin",
        abstract: "Serve vector tiles of the embedded boundaries, with TileJSON and a style; no network needed.",
        discussion: """
            Prints the address when it is ready. Stop it with Ctrl-C.
            Example: packhorse demo-origin --port 8080
            """)

    @Option(help: "Address to listen on.") var host: String = "127.0.0.1"
    @Option(help: "Port; 0 takes a free port.") var port: Int = 8080
    @Option(help: "The deepest zoom in the TileJSON document.") var maxZoom: Int = 14
    @Option(help: "Delay before each tile in milliseconds.") var latencyMs: Int = 0
    @Option(help: "Answer every N-th tile with 503; 0 = never.") var failEvery: Int = 0
    @Option(help: "Make each tile about this many bytes larger.") var padding: Int = 0
    @Option(help: "Append the path of each tile request to this file.") var requestLog: String?
    @OptionGroup var regions: RegionFolderOptions
    @OptionGroup var log: LogOptions

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port must be between 0 and 65535.") }
        guard (0...22).contains(maxZoom) else { throw ValidationError("--max-zoom must be between 0 and 22.") }
        guard (0...60_000).contains(latencyMs), failEvery >= 0, (0...1_048_576).contains(padding) else {
            throw ValidationError("--latency-ms must be 0...60000, --fail-every at least 0, and --padding 0...1048576.")
        }
    }

    func run() async throws {
        let host = host
        let server = DemoWorldServer(
            host: host, port: port, tree: try regions.tree,
            knobs: DemoKnobs(
                latency: .milliseconds(latencyMs), failEvery: failEvery, padding: padding, requestLog: requestLog),
            maxZoom: maxZoom,
            logger: log.logger("demo-origin"))
        try await ServiceRunner.run(log.logger("demo-origin")) {
            try await server.run { port in Console.result("http://\(host):\(port)") }
        }
    }
}
