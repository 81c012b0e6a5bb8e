internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation

/// A coordinator and workers as child processes on this machine, all in one folder, with sockets that only this user
/// can reach.
actor LocalCluster {
    /// How often killed processes are replaced before the cluster stops.
    private static let maxRestarts = 10

    /// The folder of state, blobs, catalog and logs.
    nonisolated let folder: URL
    nonisolated var logs: URL { folder.appending(path: "logs") }
    nonisolated var catalog: URL { folder.appending(path: "catalog") }
    /// The endpoint for commands.
    nonisolated let control: String
    private let work: String
    private let workers: Int
    private let coordinatorArguments: [String]
    private let output: FileHandle
    private let lifeline: Lifeline
    private let sockets: SocketFolder
    private var children: [ChildProcess] = []

    /// Creates the folder.
    ///
    /// Starts nothing.
    ///
    /// - Parameters:
    ///   - workers: Number of worker processes.
    ///   - coordinator: Further arguments of the coordinator.
    ///   - output: Standard output of the processes. The file stays open until the last of them has ended.
    /// - Throws: ``CLIError`` 73 when the folder cannot be created.
    init(folder: URL, workers: Int, coordinator: [String] = [], output: FileHandle = .nullDevice) throws {
        self.folder = folder
        self.workers = workers
        self.output = output
        lifeline = try Lifeline()
        coordinatorArguments = coordinator
        try OutputLocation.makeFolder(folder.appending(path: "logs"))
        sockets = try SocketFolder(folder.appending(path: "sockets"))
        control = sockets.endpoint("control")
        work = sockets.endpoint("work")
    }

    /// Starts the processes.
    ///
    /// Returns when the coordinator is ready.
    ///
    /// - Throws: The coordinator's error, as a ``CLIError``.
    func start() async throws {
        EndpointsFile.remove(folder)
        let blobs = ["--blobs", folder.appending(path: "blobs").path]
        let coordinator = try child(
            "coordinator",
            ["coordinator", "--data", folder.path, "--control", control, "--work", work, "--no-blob-endpoint"]
                + coordinatorArguments)
        while EndpointsFile.read(folder) == nil {
            guard coordinator.isRunning else { throw coordinator.end }
            try await Task.sleep(for: .milliseconds(5))
        }
        for number in 1...workers {
            let arguments = ["worker", "--connect", work, "--name", "local-\(number)"] + blobs
            _ = try child("worker-\(number)", arguments)
        }
    }

    /// Watches the processes until cancelled.
    ///
    /// When one was killed, all of them are stopped and started again, so that its work is handed out at once.
    ///
    /// - Throws: The error of a process that ended by itself, or of the last killed one when it happens too often.
    func supervise() async throws {
        var restarts = 0
        while true {
            try await Task.sleep(for: .milliseconds(100))
            guard let ended = children.first(where: { !$0.isRunning }) else { continue }
            guard ended.signal != nil, restarts < Self.maxRestarts else { throw ended.end }
            restarts += 1
            Console.warning("\(ended.end.message); restarting")
            killNow()
            try await start()
        }
    }

    /// Stops the processes in order, workers first.
    ///
    /// Blocks until they have ended, also in a cancelled task.
    func stop() {
        for child in children.reversed() { child.terminate() }
        for child in children.reversed() { child.waitForEnd() }
        children = []
    }

    /// Kills the processes.
    ///
    /// All acknowledged data is on disk.
    func killNow() {
        for child in children { child.killNow() }
        children = []
    }

    private func child(_ name: String, _ arguments: [String]) throws -> ChildProcess {
        let child = try ChildProcess(
            name: name, arguments: arguments + ["--until-input-ends"],
            log: try ChildLogFile(logs.appending(path: "\(name).log")), lifeline: lifeline, output: output)
        children.append(child)
        return child
    }
}
