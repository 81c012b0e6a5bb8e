internal import Blobs
internal import Errors
internal import Files
internal import Foundation
public import Logging
internal import PackageFiles
internal import Packages
public import ServiceLifecycle
internal import Telemetry
internal import Transfer
internal import Wire
internal import ZeroMQ

/// A worker: requests leases from a coordinator, fetches and merges, and commits results.
///
/// Any number of workers may run, on any machine that reaches the blob store. A worker may be killed at any moment: the
/// coordinator gives its leases to others. SIGTERM drains it within 10 s.
public struct WorkerService: Service, CustomStringConvertible {
    private let options: WorkerOptions
    private let logger: Logger
    private let metrics = WorkerMetrics()
    private let budgets: WorkerBudgets

    /// Only its name.
    ///
    /// ServiceLifecycle logs its services, and the options contain the environment with the secrets of tilesets.
    public var description: String { "worker \(options.name)" }

    /// A worker that is not connected yet.
    public init(_ options: WorkerOptions, logger: Logger) {
        self.options = options
        self.logger = logger
        budgets = WorkerBudgets(receiveLimit: options.bandwidth.map(ReceiveLimit.init(bytesPerSecond:)))
    }

    /// The page of metrics in the text format of Prometheus.
    public func metricsPage() -> String { metrics.page(budgets.total, disk: .ofFuture(options.scratch)) }

    /// Runs until the task is cancelled, or until a graceful shutdown has drained it.
    ///
    /// - Throws: ``WorkerError``; `StorageError` when the blob store cannot be opened; `ZeroMQError` for endpoint or
    ///   keys.
    public func run() async throws {
        guard let folder = options.blobs else { return try await runStreaming() }
        let store: any BlobStore
        do {
            store = try await cancelWhenGracefulShutdown { try await openStore(folder) }
        } catch is CancellationError {
            logger.notice("Worker stopped before it started: no blob store")
            return
        }
        let runner = LeaseRunner(
            store: store, environment: options.environment, logger: logger, budgets: budgets,
            scratch: options.scratch, beforeMerge: options.beforeMerge, metrics: metrics)
        try await run(store: store, runner: runner, policy: WorkerPolicy(options))
    }

    /// The same without a shared folder.
    private func runStreaming() async throws {
        let client = BlobClient(options.security, allowPlain: options.allowPlain, logger)
        let store = try StreamedBlobStore(scratch: options.scratch, limit: options.cacheBytes, client: client)
        let runner = LeaseRunner(
            store: store, environment: options.environment, logger: logger, budgets: budgets,
            scratch: options.scratch, beforeMerge: options.beforeMerge, metrics: metrics)
        try await run(
            store: store, runner: runner, policy: WorkerPolicy(options), streaming: client)
    }

    /// The same with another runner and other constants, for tests.
    func run(
        store: any BlobStore, runner: any WorkRunner, policy: WorkerPolicy, streaming client: BlobClient? = nil
    ) async throws {
        var linkOptions = LinkOptions()
        linkOptions.allowPlain = options.allowPlain
        linkOptions.linger = .seconds(1)
        // After a coordinator was away for minutes, its workers must reconnect within seconds.
        linkOptions.reconnectMax = .seconds(3)
        linkOptions.sendPatience = .seconds(2)
        linkOptions.logger = logger
        let link: CoordinatorLink
        do {
            link = try await cancelWhenGracefulShutdown { [options, linkOptions] in
                try await CoordinatorLink(
                    options.connect, security: options.security, options: linkOptions, patience: options.survey)
            }
        } catch is CancellationError {
            logger.notice("Worker stopped before it started: no coordinator")
            return
        }
        var profile = WorkerProfile(
            name: options.name, host: HostName.current, build: options.build, blobStore: store.id,
            packageFormats: PackageSpec.formatVersions.map { UInt32($0) })
        profile.streams = client != nil
        profile.exports = PackageExporter.formats.map(\.rawValue)
        profile.labels = options.labels
        let core = WorkerCore(session: .random(in: 1...UInt64.max), profile: profile, policy: policy)
        let shell = WorkerShell(core, link: link, runner: runner, logger: logger, budgets: budgets, metrics: metrics) {
            [options] welcome in
            await client?.connect(to: options.blobEndpoint(port: welcome.blobPort, of: link.endpoint))
        }
        logger.notice(
            "Worker started", metadata: [LogKey.endpoint: "\(link.endpoint)", LogKey.worker: "\(options.name)"])
        options.onReady()
        let failure = await withGracefulShutdownHandler {
            await withTaskGroup(of: (any Error)?.self) { group in
                group.addTask { await Self.receive(link, shell) }
                group.addTask { [options] in await Self.pace(shell, options.onRound) }
                if link.addresses.count > 1 {
                    let search = CoordinatorSearch(
                        link: link, shell: shell, logger: logger, interval: options.searchInterval)
                    group.addTask { await search.run() }
                }
                if options.limits != HostLimits() {
                    let watch = HostWatch(
                        limits: options.limits, store: store as? any CachingBlobStore, giveBack: options.beforeMerge,
                        logger: logger)
                    group.addTask {
                        await watch.run(shell)
                        return CancellationError()
                    }
                }
                if let client {
                    group.addTask {
                        await client.run()
                        return CancellationError()
                    }
                }
                let failure = await group.next() ?? nil
                group.cancelAll()
                return failure
            }
        } onGracefulShutdown: {
            // The handler cannot wait. The loops see the end that the drain leads to.
            Task { await shell.drain() }
        }
        await shell.stop(within: .seconds(3))
        await link.close()
        if let failure, !(failure is CancellationError) { throw failure }
        switch await shell.end {
        case .drained, nil: logger.notice("Worker stopped")
        case .idle: logger.notice("Worker stopped: there was no work for the time of --until-idle")
        case .outOfTime: logger.notice("Worker stopped: its time limit is near, and its leases were given back")
        case .rejected(let code, let text):
            throw WorkerError(
                code == "forbidden" ? .forbidden : .rejected,
                "The coordinator at '\(link.endpoint)' rejects this worker (\(code)): \(text)")
        case .orphaned:
            throw WorkerError(
                .orphaned,
                "No coordinator answered at '\(options.connect.joined(separator: "' or '"))' for \(policy.orphaned / 60_000) minutes. Results are in the blob store."
            )
        }
    }

    private static func receive(_ link: CoordinatorLink, _ shell: WorkerShell) async -> (any Error)? {
        while await shell.end == nil {
            do {
                await shell.received(try await link.receive(upTo: .milliseconds(500)))
            } catch {
                return error
            }
        }
        return nil
    }

    private static func pace(_ shell: WorkerShell, _ onRound: @Sendable () -> Void) async -> (any Error)? {
        while await shell.end == nil {
            onRound()
            do {
                try await Task.sleep(for: await shell.tick())
            } catch {
                return error
            }
        }
        return nil
    }

    /// Opens the shared blob store.
    ///
    /// Waits for one that its coordinator has not created yet.
    private func openStore(_ folder: URL) async throws -> any BlobStore {
        let deadline = ContinuousClock.now + options.storePatience
        var level = Logger.Level.notice
        while true {
            do {
                if let open = options.openStore { return try await open() }
                return try FolderBlobStore(folder, create: false)
            } catch let error as StorageError {
                guard error.code == .storeMissing, ContinuousClock.now < deadline else { throw error }
            }
            logger.log(
                level: level, "There is no blob store yet; waiting for the coordinator to create it",
                metadata: [LogKey.path: "\(folder.path)"])
            level = .debug
            try await Task.sleep(for: .seconds(1))
        }
    }
}

extension WorkerOptions {
    /// The endpoint of blobs when the coordinator serves them at `port`, with the host by which this worker reaches the
    /// coordinator.
    func blobEndpoint(port: UInt32, of address: String) -> String {
        if let blobEndpoint { return blobEndpoint }
        guard let colon = address.lastIndex(of: ":") else { return address }
        return "\(address[..<colon]):\(port)"
    }
}
