import ArgumentParser
import Logging
import MetricsServer
import Telemetry

/// The option of a service that serves metrics.
struct MetricsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Serve metrics for Prometheus at this address, path /metrics: 127.0.0.1:PORT, or unix:/PATH for a socket. An address that other machines reach must be written as such, for example 0.0.0.0:9470: anyone there can read the metrics. Default: no metrics.",
            valueName: "address"))
    var metrics: String?

    func validate() throws {
        guard let metrics, MetricsAddress(metrics) == nil else { return }
        throw ValidationError(
            "--metrics '\(metrics.prefix(200))' is not an address; expected for example 127.0.0.1:9470 or unix:/run/packhorse/metrics"
        )
    }

    /// Runs a service, and its page of metrics where one was asked for.
    ///
    /// The address is bound before anything else happens; the page answers until the service has ended.
    ///
    /// - Throws: `MetricsServerError`, and what `body` throws.
    func serve(_ logger: Logger, _ body: (MetricsServer?) async throws -> Void) async throws {
        guard let address = metrics.flatMap(MetricsAddress.init) else { return try await body(nil) }
        let server = try await MetricsServer.bind(address)
        let level: Logger.Level = address.isLocal ? .info : .warning
        logger.log(
            level: level, address.isLocal ? "Metrics served" : "Metrics served to other machines without a key",
            metadata: [LogKey.endpoint: "\(server.address)"])
        do {
            try await body(server)
        } catch {
            await server.close()
            throw error
        }
        await server.close()
    }
}
