import Foundation
import TestSupport
import Testing

/// A coordinator and workers as real processes in a folder of their own, on ports that stay the same when it restarts.
final class Cluster {
    let scratch: Scratch
    let data: URL
    private(set) var coordinator: Daemon?
    private(set) var workers: [Daemon] = []
    let control: String
    let work: String
    let blob: String
    private let coordinatorArguments: [String]
    /// Of the coordinator and its workers.
    private let blobs: [String]?
    private let environment: [String: String]

    /// Between the workers and the coordinator, where one was asked for.
    private(set) var proxy: FaultProxy?

    init(
        workers count: Int, coordinatorArguments: [String] = [], blobs: [String]? = nil,
        environment: [String: String] = [:], throughProxy: Bool = false, in scratch: Scratch, data: URL? = nil
    ) async throws {
        self.scratch = scratch
        self.blobs = blobs
        self.environment = environment
        self.data = data ?? scratch.url("data-\(UUID().uuidString)")
        self.coordinatorArguments = coordinatorArguments
        (control, work, blob) = try (Ports.endpoint(), Ports.endpoint(), Ports.endpoint())
        try await startCoordinator()
        if throughProxy { proxy = try FaultProxy(to: work) }
        for _ in 0..<count { try startWorker() }
    }

    var catalog: URL { data.appending(path: "catalog") }

    /// Starts the coordinator, also again after it has ended.
    func startCoordinator() async throws {
        let endpoints = data.appending(path: "endpoints.json")
        try? FileManager.default.removeItem(at: endpoints)
        let daemon = try Daemon(
            ["coordinator", "--data", data.path, "--control", control, "--work", work, "--blob-bind", blob]
                + coordinatorArguments + (blobs ?? []), environment: environment, in: scratch)
        coordinator = daemon
        try await Eventually.holds("the coordinator binds") {
            guard daemon.isRunning else { throw Daemon.Ended(program: "coordinator", said: daemon.said) }
            return FileManager.default.fileExists(atPath: endpoints.path)
        }
    }

    /// Every shard, manifest and merged package that lies in the blob store.
    func blobFiles() throws -> [URL] {
        let folder = data.appending(path: "blobs")
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.utf8.count == 67 && !$0.hasPrefix("tmp/") }.map { folder.appending(path: $0) }
    }

    func startWorker(_ arguments: [String] = []) throws {
        workers.append(
            try Daemon(
                [
                    "worker", "--connect", proxy?.endpoint ?? work, "--name", "w\(workers.count + 1)",
                ] + (blobs ?? ["--blobs", data.appending(path: "blobs").path]) + arguments, environment: environment,
                in: scratch))
    }

    /// Starts a worker that shares no folder, perhaps with its blobs going through `endpoint`.
    func startStreamingWorker(_ folder: URL, through endpoint: String? = nil) throws {
        let detour = endpoint.map { ["--blob-endpoint", $0] } ?? []
        workers.append(
            try Daemon(
                ["worker", "--connect", work, "--scratch", folder.path, "--name", "w\(workers.count + 1)"] + detour,
                in: scratch))
    }

    /// Runs a command against this cluster.
    func run(_ arguments: [String]) async throws -> Program.Outcome {
        try await Program.run(arguments + ["--coordinator", control], in: scratch)
    }

    /// Submits, waits for the end and returns the job as JSON.
    func build(_ arguments: [String]) async throws -> Job {
        let outcome = try await run(["submit"] + arguments + ["--wait", "--json", "--progress", "none"])
        try #require(outcome.status == 0, "\(arguments): \(outcome.errors)")
        return try Job(json: outcome.output)
    }

    /// Submits and returns the job's number.
    func submit(_ arguments: [String]) async throws -> String {
        let outcome = try await run(["submit"] + arguments)
        try #require(outcome.status == 0, "\(arguments): \(outcome.errors)")
        return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func status(_ job: String) async throws -> Job {
        let outcome = try await run(["status", job, "--json"])
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try Job(json: outcome.output)
    }

    func stop() async throws {
        for worker in workers where worker.isRunning { try await worker.stop() }
        if let coordinator, coordinator.isRunning { try await coordinator.stop() }
        proxy?.stop()
    }
}

/// A job as `--json` prints it.
struct Job: Decodable {
    struct Package: Decodable {
        let id: String
        let state: String
        let version: Int?
        let tiles: Int?
        let size: Int?
        let sha256: String?
        let tilesHash: String?
        let path: String?
    }

    struct Failure: Decodable {
        let tile: String
        let cause: String
    }

    let job: Int
    let state: String
    let tiles: Int
    let stored: Int
    let empty: Int
    let failed: Int
    let settled: Int
    let reused: Int
    let notModified: Int
    let received: Int
    let receivedAgain: Int
    let notSent: Int
    let blockList: String?
    let batches: Int
    let batchesDone: Int
    let packages: [Package]
    let failures: [Failure]

    init(json: String) throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        self = try decoder.decode(Job.self, from: Data(json.utf8))
    }
}
