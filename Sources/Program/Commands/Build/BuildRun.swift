internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation
internal import TextFormats
import Wire
import ZeroMQ

/// Runs the jobs of a build until they end: on processes of this machine, or on a running cluster.
struct BuildRun {
    let plan: BuildPlan
    let folder: BuildFolder
    let style: ProgressStyle
    /// Seconds without a new tile after which the build is stopped.
    let patience: Double

    /// Builds on this machine.
    ///
    /// - Throws: The error with which a process ended; the refusal of the coordinator.
    func here(workers: Int) async throws -> [PBJobStatus] {
        let cluster = try LocalCluster(
            folder: folder.cluster, workers: workers,
            coordinator: ["--new-workers", "--keep-tiles", "0", "--patches-from", "0"],
            // Held by every process, so that the next build starts when the last of them has ended.
            output: folder.lock)
        do {
            try await cluster.start()
            let run = self
            // Planning a large job takes seconds. Other answers come at once, unless the coordinator was killed.
            let client = try Self.client(cluster, timeout: .seconds(60))
            let watching = try Self.client(cluster, timeout: .seconds(3))
            let views = try await withThrowingTaskGroup(of: [PBJobStatus]?.self) { group in
                group.addTask {
                    do { try await cluster.supervise() } catch {
                        // A request that waits for an ended coordinator must not delay the end.
                        await client.close()
                        await watching.close()
                        throw error
                    }
                    return nil
                }
                group.addTask {
                    do { return try await run.follow(client, watching: watching) } catch let error as ZeroMQError
                        where error.code == .closed
                    {
                        // The supervisor has closed the links and is about to throw the coordinator's error.
                        try await Task.sleep(for: .seconds(10))
                        throw error
                    }
                }
                defer { group.cancelAll() }
                return try await group.next() ?? nil
            }
            await cluster.killNow()
            return views ?? []
        } catch {
            await cluster.killNow()
            throw error
        }
    }

    /// Builds on a running cluster.
    ///
    /// - Throws: ``CLIError`` 69 when its files could not be fetched, before anything is built.
    func there(_ endpoint: String, _ keys: KeyOptions, filesFrom: String?) async throws -> [PBJobStatus] {
        let client = try ControlClient(
            endpoint: endpoint, security: try keys.client(as: .operator), allowPlain: keys.insecure,
            timeout: .seconds(20))
        if filesFrom == nil {
            let catalog = try await client.health().catalog
            guard catalog.hasPrefix("/"), FileKind.isFolder(URL(filePath: catalog)) else {
                await client.close()
                throw CLIError(
                    .unavailable,
                    "the coordinator at \(endpoint) publishes into '\(catalog)', a folder that this machine does not have",
                    hint: "pass the address or folder of the catalog: --files-from https://HOST/ or a folder")
            }
        }
        if plan.requests.count > 1 { try await SubmitCommand.dryRun(plan.requests, client) }
        return try await follow(client, watching: client)
    }

    /// Submits the jobs, or finds those of an earlier run, and follows them until they end.
    private func follow(_ client: ControlClient, watching: ControlClient) async throws -> [PBJobStatus] {
        do {
            var numbers: [UInt64] = []
            for (draft, request) in zip(plan.drafts, plan.requests) {
                let submitted = try await client.submit(request)
                if numbers.isEmpty { try folder.write(plan.record) }
                numbers.append(submitted.job)
                if !submitted.existing {
                    for warning in draft.warnings + submitted.warnings {
                        Console.warning(warning)
                    }
                } else if folder.isResumed {
                    try await resume(submitted.job, client)
                }
            }
            var views: [PBJobStatus] = []
            let watcher = JobWatcher(client: watching, style: style, quietStart: 1, patience: patience)
            for number in numbers { views.append(try await watcher.follow(number)) }
            await client.close()
            await watching.close()
            return views
        } catch {
            await client.close()
            await watching.close()
            throw error
        }
    }

    private static func client(_ cluster: LocalCluster, timeout: Duration) throws -> ControlClient {
        try ControlClient(endpoint: cluster.control, security: .plain, allowPlain: false, timeout: timeout)
    }

    /// Resumes a job of an earlier run, also a failed one.
    private func resume(_ number: UInt64, _ client: ControlClient) async throws {
        let job = try await client.job(number, failures: 0)
        if ["failed", "cancelled"].contains(job.state) {
            Console.note("retrying the failed tiles of \(job.label)")
            _ = try await client.order(
                .make {
                    $0.job = number
                    $0.order = "retry"
                })
        } else if !job.isOver {
            Console.note(
                "continuing \(job.label): \(Units.count(job.settled)) of \(Units.count(job.tiles)) tiles are done")
        }
    }
}
