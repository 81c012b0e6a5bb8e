internal import CommandSupport
import Foundation

/// The folders of `packhorse up` and its processes with their arguments.
struct UpPlan: Equatable {
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
    func stages(work: String) -> [[LocalService]] {
        [[coordinator(work)], (1...workers).map { worker($0, work) }] + (gateway.map { [[$0]] } ?? [])
    }

    private func coordinator(_ work: String) -> LocalService {
        // Workers on this machine connect again within seconds. Those of an earlier run have ended.
        LocalService.coordinator(
            data: data, control: control, work: work,
            arguments: ["--restart-grace-seconds", "20"] + coordinatorArguments + metrics(of: 0) + logArguments,
            firstArguments: ["--new-workers"])
    }

    private func worker(_ number: Int, _ work: String) -> LocalService {
        LocalService.worker(
            number, data: data, work: work, arguments: metrics(of: number) + logArguments,
            readiness: .connected(to: control))
    }

    /// The option of the coordinator, number 0, and of the workers.
    private func metrics(of number: Int) -> [String] {
        metricsPort.map { ["--metrics", "127.0.0.1:\($0 + number)"] } ?? []
    }

    private var gateway: LocalService? {
        gatewayPort.map { port in
            let arguments = [
                "gateway", catalog.path, "--port", "\(port)", "--tokens", tokens.path, "--coordinator", control,
            ]
            return LocalService(
                name: "gateway", arguments: arguments + gatewayArguments + logArguments, readiness: .address)
        }
    }

    /// The processes as lines for `--dry-run`, to be pasted into a shell.
    var lines: [String] {
        stages(work: "ipc://\(sockets.appending(path: "work").path)").joined().map { service in
            (["packhorse"] + service.arguments(isFirst: true).map(ShellText.quoted)).joined(separator: " ")
        }
    }
}
