import DemoWorld
import Foundation
import Logging
import Regions

/// A coordinator and workers as child processes, all on loopback and in one folder.
final class DemoCluster {
    let data: URL
    let logs: URL
    private var children: [ChildProcess] = []

    /// Makes the folder.
    ///
    /// - Throws: ``CLIError`` 73 when it cannot be made.
    init(folder: URL) throws {
        data = folder
        logs = folder.appending(path: "logs")
        try OutputPlace.makeFolder(logs, hint: "choose another --folder")
    }

    var catalog: URL { data.appending(path: "catalog") }

    /// Starts the built-in world on a free port.
    ///
    /// - Returns: its address, and the task that serves until cancelled.
    static func serveWorld(_ tree: RegionTree, maxZoom: Int) async throws -> (url: String, task: Task<Void, any Error>)
    {
        let logger = Logger(label: "packhorse.demo-origin") { _ in SwiftLogNoOpLogHandler() }
        let server = DemoWorldServer(tree: tree, maxZoom: maxZoom, logger: logger)
        let (ready, announce) = AsyncStream.makeStream(of: Int.self)
        // Outlives this call on purpose: the caller cancels it when the demo is over.
        let task = Task {
            defer { announce.finish() }
            try await server.run { announce.yield($0) }
        }
        for await port in ready { return ("http://127.0.0.1:\(port)", task) }
        try await task.value
        throw CLIError(.software, "the demo world ended before it served")
    }

    /// Starts the processes and waits until the coordinator is bound.
    func start(workers: Int) async throws -> EndpointsFile {
        EndpointsFile.remove(data)
        let coordinator = try child(
            "coordinator",
            ["coordinator", "--data", data.path, "--control", "tcp://127.0.0.1:*", "--work", "tcp://127.0.0.1:*"])
        var endpoints = EndpointsFile.read(data)
        while endpoints == nil {
            guard coordinator.isRunning else {
                throw CLIError(
                    .temporary, "the coordinator ended: \(lastWords("coordinator"))",
                    hint: "all of it: \(logs.path)/coordinator.log")
            }
            try await Task.sleep(for: .milliseconds(50))
            endpoints = EndpointsFile.read(data)
        }
        guard let endpoints else { throw CLIError(.software, "the coordinator named no endpoints") }
        for number in 1...workers {
            let arguments = [
                "--connect", endpoints.work, "--blobs", data.appending(path: "blobs").path, "--name", "demo-\(number)",
            ]
            _ = try child("worker-\(number)", ["worker"] + arguments)
        }
        return endpoints
    }

    /// Ends the processes, workers first; blocks until they have ended, also in a cancelled task.
    func stop() {
        for child in children.reversed() { child.terminate() }
        for child in children.reversed() { child.waitForEnd() }
        children = []
    }

    /// The last line of a log, without its prefix.
    private func lastWords(_ name: String) -> String {
        let log = (try? String(contentsOf: logs.appending(path: "\(name).log"), encoding: .utf8)) ?? ""
        let lines = log.split(separator: "\n").filter { !$0.hasPrefix("hint:") }
        return lines.last.map { $0.replacingOccurrences(of: "packhorse: error: ", with: "") } ?? "it said nothing"
    }

    private func child(_ name: String, _ arguments: [String]) throws -> ChildProcess {
        let child = try ChildProcess(name: name, arguments: arguments, log: logs.appending(path: "\(name).log"))
        children.append(child)
        return child
    }
}
