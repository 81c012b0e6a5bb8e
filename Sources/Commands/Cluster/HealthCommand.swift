import ArgumentParser
import Wire

/// `packhorse health`: whether the coordinator serves, for health checks and people.
struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health", abstract: "Whether the coordinator serves: exit 0 when it does, another when not.",
        discussion: """
            It ends with 69 or 75 when the coordinator does not serve, and with 66, 77 or 78 when keys or the endpoint are wrong.
            Example: packhorse health --timeout 2
            """)

    @Flag(help: "The result as JSON.") var json = false
    @Option(help: "Also require at least this many workers that were heard in the last seconds.") var workers: Int = 0
    @OptionGroup var cluster: ClusterOptions

    func run() async throws {
        let (health, connected) = try await cluster.withClient { client in
            (try await client.health(), workers > 0 ? try await client.workers().count { !$0.isSilent } : 0)
        }
        if json {
            Console.result(try JSONText.pretty(HealthView(health)))
        } else {
            Console.result("\(health.state)  \(health.build)  epoch \(health.epoch)  catalog \(health.catalog)")
        }
        guard health.state == "serving" else {
            throw CLIError(
                .temporary, "the coordinator is \(health.state)", hint: "its log names the cause, often a full disk")
        }
        guard connected >= workers else {
            throw CLIError(.temporary, "\(connected) of \(workers) workers are connected")
        }
    }
}

/// The coordinator's state as printed.
private struct HealthView: Encodable {
    let state: String
    let build: String
    let epoch: UInt32
    let catalog: String
    let blobStore: String
    let bboxTileLimit: UInt64

    init(_ health: PBHealth) {
        state = health.state
        build = health.build
        epoch = health.epoch
        catalog = health.catalog
        blobStore = health.blobStore
        bboxTileLimit = health.bboxTileLimit
    }
}
