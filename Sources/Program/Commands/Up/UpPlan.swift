internal import CommandSupport
import Foundation

/// The folders of `packhorse up` and its processes with their arguments.
struct UpPlan: Equatable {
    enum Kind: Equatable { case coordinator, worker, gateway }

    struct Service: Equatable {
        let kind: Kind
        /// The name in the log.
        let name: String
        let arguments: [String]
        /// Further arguments of the first start.
        var firstArguments: [String] = []

        func arguments(isFirst: Bool) -> [String] { arguments + (isFirst ? firstArguments : []) }
    }

    /// The folder of everything.
    let data: URL
    /// Number of worker processes.
    let workers: Int
    /// Port for commands.
    let controlPort: Int
    /// Port of the gateway; `nil` = no gateway.
    let gatewayPort: Int?
    /// Port for the metrics of the coordinator, before those of the workers; `nil` = no metrics.
    var metricsPort: Int?
    /// Further arguments of the coordinator.
    var coordinatorArguments: [String] = []
    /// Further arguments of the gateway.
    var gatewayArguments: [String] = []
    /// Further arguments of each process.
    var logArguments: [String] = []

    var catalog: URL { data.appending(path: "catalog") }
    var tokens: URL { data.appending(path: "tokens") }
    var sockets: URL { data.appending(path: "sockets") }
    /// The endpoint for commands.
    var control: String { "tcp://127.0.0.1:\(controlPort)" }
    /// The address of the page.
    var page: String? { gatewayPort.map { "http://127.0.0.1:\($0)/" } }

    /// The ports for metrics, the coordinator's first.
    var metricsPorts: [Int] { metricsPort.map { Array($0...$0 + workers) } ?? [] }

    /// The stages in which the processes start.
    ///
    /// - Parameter work: The endpoint for the workers.
    func stages(work: String) -> [[Service]] {
        [[coordinator(work)], (1...workers).map { worker($0, work) }] + (gateway.map { [[$0]] } ?? [])
    }

    private func coordinator(_ work: String) -> Service {
        // Workers on this machine connect again within seconds.
        let arguments = [
            "coordinator", "--data", data.path, "--control", control, "--work", work, "--no-blob-endpoint",
            "--restart-grace-seconds", "20",
        ]
        // The workers of an earlier run have ended. Those of this one survive the coordinator.
        return Service(
            kind: .coordinator, name: "coordinator",
            arguments: arguments + coordinatorArguments + metrics(of: 0) + logArguments,
            firstArguments: ["--new-workers"])
    }

    private func worker(_ number: Int, _ work: String) -> Service {
        let blobs = data.appending(path: "blobs").path
        let name = "worker-\(number)"
        return Service(
            kind: .worker, name: name,
            arguments: ["worker", "--connect", work, "--name", name, "--blobs", blobs] + metrics(of: number)
                + logArguments)
    }

    /// The option of the coordinator, number 0, and of the workers.
    private func metrics(of number: Int) -> [String] {
        metricsPort.map { ["--metrics", "127.0.0.1:\($0 + number)"] } ?? []
    }

    private var gateway: Service? {
        gatewayPort.map { port in
            let arguments = [
                "gateway", catalog.path, "--port", "\(port)", "--tokens", tokens.path, "--coordinator", control,
            ]
            return Service(kind: .gateway, name: "gateway", arguments: arguments + gatewayArguments + logArguments)
        }
    }

    /// The processes as lines for `--dry-run`, to be pasted into a shell.
    var lines: [String] {
        stages(work: "ipc://\(sockets.appending(path: "work").path)").joined().map { service in
            (["packhorse"] + service.arguments(isFirst: true).map(ShellText.quoted)).joined(separator: " ")
        }
    }
}
