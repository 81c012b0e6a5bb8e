package import Logging
package import ServiceLifecycle
import UnixSignals

/// Runs a server until it ends, or until SIGTERM or Ctrl-C.
///
/// Twelve seconds after the signal its task is cancelled; ``EndLimit/patience`` after the signal the process ends, whatever hangs.
package enum ServiceRunner {
    /// Runs a function as a service.
    ///
    /// - Parameter steps: What SIGHUP reads again; `nil` = SIGHUP ends the process, as it does by default.
    package static func run(
        _ logger: Logger, reload steps: [ReloadStep]? = nil, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await run(logger, reload: steps, BodyService(body: body))
    }

    /// Runs a service.
    ///
    /// - Parameter steps: What SIGHUP reads again; `nil` = SIGHUP ends the process, as it does by default.
    package static func run(_ logger: Logger, reload steps: [ReloadStep]? = nil, _ service: some Service) async throws {
        var services = [
            ServiceGroupConfiguration.ServiceConfiguration(
                service: service, successTerminationBehavior: .gracefullyShutdownGroup)
        ]
        if let steps {
            services.append(
                .init(service: HangupService(steps: steps, logger: logger), successTerminationBehavior: .ignore))
        }
        let limit = EndLimit(logger: logger)
        defer { limit.cancel() }
        services.append(.init(service: limit, successTerminationBehavior: .ignore))
        var configuration = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(12)
        try await ServiceGroup(configuration: configuration).run()
    }
}

/// A closure as a service.
private struct BodyService: Service {
    let body: @Sendable () async throws -> Void

    func run() async throws { try await body() }
}
