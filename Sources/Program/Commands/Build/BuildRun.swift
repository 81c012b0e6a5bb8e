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
            coordinator: ["--new-workers", "--keep-tiles", "0", "--patches-from", "0"], patience: .seconds(patience),
            // Held by every process, so that the next build starts when the last of them has ended.
            output: folder.lock)
        let run = self
        return try await cluster.run(isHasty: true) { try await run.follow($0.orders, watching: $0.watching) }
    }

    /// Builds on a running cluster.
    ///
    /// - Throws: ``CLIError`` 69 when its files could not be fetched, before anything is built.
    func there(_ endpoint: String, _ keys: KeyOptions, filesFrom: String?) async throws -> [PBJobStatus] {
        let client = try ControlClient(
            endpoint: endpoint, security: try keys.client(as: .operator), allowPlain: keys.insecure,
            timeout: .seconds(20))
        if filesFrom == nil {
            let name = plan.requests.first?.publish.catalog ?? ""
            // The submission refuses a catalog that the coordinator does not have.
            let catalog = try await client.health().folder(ofCatalog: name) ?? ""
            guard catalog.hasPrefix("/"), FileKind.isFolder(URL(filePath: catalog)) else {
                await client.close()
                throw CLIError(
                    .unavailable,
                    "the coordinator at \(endpoint) publishes into '\(catalog)', a folder that this machine does not have",
                    hint: "pass the address or folder of the catalog: --files-from https://HOST/ or a folder")
            }
        }
        do {
            if plan.requests.count > 1 { try await SubmitCommand.dryRun(plan.requests, client) }
            let views = try await follow(client, watching: client)
            await client.close()
            return views
        } catch {
            await client.close()
            throw error
        }
    }

    /// Submits the jobs, or finds those of an earlier run, and follows them until they end.
    ///
    /// A submission is repeated while the coordinator cannot take it; an equal one is the same job.
    private func follow(_ client: ControlClient, watching: ControlClient) async throws -> [PBJobStatus] {
        var numbers: [UInt64] = []
        for (draft, request) in zip(plan.drafts, plan.requests) {
            let submitted = try await Patience.outlast(for: patience) { try await client.submit(request) }
            if numbers.isEmpty {
                try await Patience.untilThereIsRoom(for: patience) { try folder.write(plan.record) }
            }
            numbers.append(submitted.job)
            if folder.isResumed, submitted.existing {
                try await resume(submitted.job, client)
            } else {
                for warning in draft.warnings + submitted.warnings { Console.warning(warning) }
            }
        }
        var views: [PBJobStatus] = []
        let watcher = JobWatcher(client: watching, style: style, quietStart: 1, patience: patience)
        for number in numbers { views.append(try await watcher.follow(number)) }
        return views
    }

    /// Resumes a job of an earlier run, also a failed one.
    ///
    /// Its workers do not wait for this command: they may have ended the job already.
    private func resume(_ number: UInt64, _ client: ControlClient) async throws {
        let job = try await client.job(number, failures: 0)
        if ["failed", "cancelled"].contains(job.state) {
            Console.note("retrying the failed tiles of \(job.label)")
            let retry = PBJobOrder.make {
                $0.job = number
                $0.order = "retry"
            }
            _ = try await Patience.outlast(for: patience) { try await client.order(retry) }
        } else {
            Console.note(
                "continuing \(job.label): \(Units.count(job.settled)) of \(Units.count(job.tiles)) tiles are done")
        }
    }
}
