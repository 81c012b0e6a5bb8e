import ArgumentParser

/// The commands whose options can be in a file: `coordinator.yaml`, `worker.yaml`, `gateway.yaml`, `up.yaml`.
enum ServiceRole: String, CaseIterable, ExpressibleByArgument {
    case coordinator, worker, gateway, up

    var command: any ParsableCommand.Type {
        switch self {
        case .coordinator: CoordinatorCommand.self
        case .worker: WorkerCommand.self
        case .gateway: GatewayCommand.self
        case .up: UpCommand.self
        }
    }

    /// The options whose values count at once when the file is read again; all others need a restart.
    var reloaded: Set<String> {
        switch self {
        case .coordinator, .worker, .gateway: ["log-level"]
        // It has passed its level on to its processes as an argument.
        case .up: []
        }
    }

    static let names = allCases.map(\.rawValue).joined(separator: ", ")
}
