internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation
import ZeroMQ

/// A coordinator and workers as child processes on this machine, all in one folder, with sockets that only this user
/// can reach, for as long as something uses them.
struct LocalCluster {
    /// How often killed processes are replaced before the cluster ends.
    private static let maxRestarts = 10

    /// The folder of state, blobs, catalog and logs.
    let folder: URL
    var logs: URL { folder.appending(path: "logs") }
    var catalog: URL { folder.appending(path: "catalog") }
    /// The endpoint for commands.
    private let control: String
    private let sockets: SocketFolder
    private let processes: LocalProcesses
    private let isUp: AsyncStream<Void>

    /// Two clients of the cluster, which it closes.
    struct Clients: Sendable {
        /// Planning a large job takes seconds, so it waits for a minute.
        let orders: ControlClient
        /// Other answers come at once, unless the coordinator was killed.
        let watching: ControlClient

        func close() async {
            await orders.close()
            await watching.close()
        }
    }

    /// Creates the folder.
    ///
    /// Starts nothing.
    ///
    /// - Parameters:
    ///   - workers: Number of worker processes.
    ///   - coordinator: Further arguments of the coordinator.
    ///   - patience: How long the cluster may lack what a process needs to start, such as space on a disk.
    ///   - output: Standard output of the processes. The file stays open until the last of them has ended.
    /// - Throws: ``CLIError`` 73 when the folder cannot be created.
    init(
        folder: URL, workers: Int, coordinator: [String] = [], patience: Duration = .seconds(60),
        output: FileHandle = .nullDevice
    ) throws {
        self.folder = folder
        let logs = folder.appending(path: "logs")
        try OutputLocation.makeFolder(logs)
        sockets = try SocketFolder(folder.appending(path: "sockets"))
        control = sockets.endpoint("control")
        let work = sockets.endpoint("work")
        let stages = [
            [LocalService.coordinator(data: folder, control: control, work: work, arguments: coordinator)],
            (1...workers).map { LocalService.worker($0, data: folder, work: work, readiness: .atOnce) },
        ]
        let log: @Sendable (String) -> URL = { logs.appending(path: "\($0).log") }
        let files = try Dictionary(
            uniqueKeysWithValues: stages.joined().map { ($0.name, try LogFile(log($0.name))) })
        let (isUp, tellUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.isUp = isUp
        processes = try LocalProcesses(
            stages, restart: .all(most: Self.maxRestarts, patience: patience), output: output,
            hint: { "see its log: \(log($0).path)" },
            reports: LocalProcesses.Reports(
                line: { line, name in files[name]?.write(line) },
                restart: { _, end, wait in
                    Console.warning("\(end.message); \(wait == .zero ? "restarting" : "trying again")")
                },
                isUp: { tellUp.yield() }))
    }

    /// Starts the processes, runs `work` when the coordinator is ready, and ends them.
    ///
    /// Killed processes are replaced meanwhile. Requests of the clients outlast that.
    ///
    /// - Parameter isHasty: Whether the processes are killed at the end, and not asked to end.
    /// - Throws: The error of a process that is not started again; else what `work` throws.
    func run<Value: Sendable>(
        isHasty: Bool, _ work: @escaping @Sendable (Clients) async throws -> Value
    ) async throws -> Value {
        let clients = Clients(orders: try client(.seconds(60)), watching: try client(.seconds(3)))
        return try await withThrowingTaskGroup(of: Value?.self) { [processes, isUp] group in
            group.addTask {
                _ = try await processes.run()
                return nil
            }
            group.addTask {
                for await _ in isUp { break }
                return try await work(clients)
            }
            do {
                let value = try await group.next() ?? nil
                if isHasty { processes.kill() } else { processes.stop() }
                _ = try await group.next()
                await clients.close()
                guard let value else { throw CancellationError() }
                return value
            } catch {
                // Without an answer, the reason is that of the process that gives none.
                let isSilent = (error as? ClusterError)?.code == .unreachable
                let trouble = isSilent ? await processes.trouble : nil
                processes.kill()
                // A request that waits for an ended coordinator must not delay the end.
                await clients.close()
                throw trouble ?? error
            }
        }
    }

    private func client(_ timeout: Duration) throws -> ControlClient {
        try ControlClient(endpoint: control, security: .plain, allowPlain: false, timeout: timeout)
    }
}
