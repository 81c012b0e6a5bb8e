import ArgumentParser
internal import ClusterClient
internal import CommandSupport
import Foundation
import ZeroMQ

/// How a command reaches its coordinator and authenticates itself.
struct ClusterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The coordinator's control endpoint. Several, repeated or comma-separated: the coordinator of the highest epoch is asked. Default: $PACKHORSE_COORDINATOR, else tcp://127.0.0.1:7470.",
            valueName: "endpoint"))
    var coordinator: [String] = []

    @OptionGroup var keys: KeyOptions

    @Option(help: ArgumentHelp("How long to wait for an answer, in seconds.", valueName: "seconds"))
    var timeout: Double = 5

    func validate() throws {
        guard timeout > 0, timeout <= 3600 else {
            throw ValidationError("--timeout must be above 0 and at most 3600 seconds.")
        }
        try EndpointList.check(coordinator, option: "--coordinator")
    }

    /// Runs `body` with a link to the coordinator, and always closes the link afterwards.
    func withClient<Result>(_ body: (ControlClient) async throws -> Result) async throws -> Result {
        let endpoints = try EndpointList.resolve(
            coordinator, variable: "PACKHORSE_COORDINATOR", usual: "tcp://127.0.0.1:7470")
        let security = try keys.client(as: .operator)
        let client = try ControlClient(
            endpoints: endpoints, security: security, allowPlain: keys.insecure, timeout: .seconds(timeout))
        do {
            let result = try await body(client)
            await client.close()
            return result
        } catch {
            await client.close()
            throw error
        }
    }
}
