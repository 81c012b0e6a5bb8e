import Errors
import Foundation
import Wire
import ZeroMQ

/// Runs the jobs of a build to their ends: on processes of this machine, or on a running cluster.
struct BuildRun {
    let plan: BuildPlan
    let folder: BuildFolder
    let style: ProgressStyle
    /// Seconds without a tile after which the build is given up.
    let patience: Double

    /// Builds on this machine.
    ///
    /// - Throws: What a process ended with; what the coordinator refused.
    func here(workers: Int) async throws -> [JobView] {
        let cluster = try LocalCluster(
            folder: folder.cluster, workers: workers,
            coordinator: ["--new-workers", "--keep-tiles", "0", "--patches-from", "0"],
            // Held by every process, so that the next build begins when the last of them has ended.
            output: folder.lock)
        do {
            try await cluster.start()
            let run = self
            // Planning a large job takes seconds; an answer about one comes at once, unless the coordinator was killed.
            let client = try Self.client(cluster, timeout: .seconds(60))
            let watching = try Self.client(cluster, timeout: .seconds(3))
            let views = try await withThrowingTaskGroup(of: [JobView]?.self) { group in
                group.addTask {
                    do { try await cluster.supervise() } catch {
                        // A question that waits for a coordinator that is gone must not hold up the end.
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
                        // The supervisor closed the links and is about to throw what the coordinator ended with.
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
    func there(_ endpoint: String, _ keys: KeyOptions, filesFrom: String?) async throws -> [JobView] {
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
                    hint: "name the catalog as this machine reaches it: --files-from https://HOST/ or a folder")
            }
        }
        if plan.requests.count > 1 { try await SubmitCommand.rehearse(plan.requests, client) }
        return try await follow(client, watching: client)
    }

    /// Submits, or finds what an earlier run submitted, and follows to the end.
    private func follow(_ client: ControlClient, watching: ControlClient) async throws -> [JobView] {
        do {
            var numbers: [UInt64] = []
            for (draft, request) in zip(plan.drafts, plan.requests) {
                let submitted = try await client.submit(request)
                if numbers.isEmpty { try folder.note(plan.record) }
                numbers.append(submitted.job)
                if !submitted.existing {
                    for warning in draft.warnings + submitted.warnings {
                        Console.warning(warning)
                    }
                } else if folder.isResumed {
                    try await goOn(submitted.job, client)
                }
            }
            var views: [JobView] = []
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

    /// Lets a job of an earlier run go on, also one that failed.
    private func goOn(_ number: UInt64, _ client: ControlClient) async throws {
        let job = JobView(try await client.job(number, failures: 0))
        if ["failed", "cancelled"].contains(job.state) {
            Console.note("asking again for what failed of \(job.label)")
            _ = try await client.order(
                .make {
                    $0.job = number
                    $0.order = "retry"
                })
        } else if !job.isOver {
            Console.note(
                "continuing \(job.label): \(Units.count(job.settled)) of \(Units.count(job.tiles)) tiles are there")
        }
    }
}
