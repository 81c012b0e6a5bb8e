package import Logging
package import ServiceLifecycle
import UnixSignals

/// Runs a server until it ends, or until SIGTERM or Ctrl-C.
///
/// A second signal, or ten seconds after the first one, end it immediately.
package enum ServiceRunner {
    package static func run(_ logger: Logger, _ body: @escaping @Sendable () async throws -> Void) async throws {
        try await run(logger, BodyService(body: body))
    }

    package static func run(_ logger: Logger, _ service: some Service) async throws {
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(12)
        try await ServiceGroup(configuration: configuration).run()
    }
}

/// A closure as a service.
private struct BodyService: Service {
    let body: @Sendable () async throws -> Void

    func run() async throws { try await body() }
}
