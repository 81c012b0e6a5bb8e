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
        do {
            return try await cluster.run(isHasty: true) { try await run.follow($0.orders, watching: $0.watching) }
        } catch let error as CLIError where error.status == .badData && error.message.contains("state.sqlite") {
            // A build has no backup of its state.
            throw CLIError(
                .badData, error.message, details: error.details,
                hint: "the unfinished build cannot be continued; start over with --restart")
        }
    }

    /// Builds on a running cluster.
    ///
    /// - Throws: ``CLIError`` 69 when its files could not be fetched, before anything is built.
    func there(_ endpoints: [String], _ keys: KeyOptions, filesFrom: String?) async throws -> [PBJobStatus] {
        let client = try ControlClient(
            endpoints: endpoints, security: try keys.client(as: .operator), allowPlain: keys.insecure,
            timeout: .seconds(20))
        if filesFrom == nil {
            let name = plan.requests.first?.publish.catalog ?? ""
            // The submission refuses a catalog that the coordinator does not have.
            let catalog = try await client.health().folder(ofCatalog: name) ?? ""
            guard catalog.hasPrefix("/"), FileKind.isFolder(URL(filePath: catalog)) else {
                await client.close()
                throw CLIError(
                    .unavailable,
                    "the coordinator at \(endpoints.joined(separator: " or ")) publishes into '\(catalog)', a folder that this machine does not have",
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
        var record = plan.record
        // In a cluster, a job with another limit is another job, which takes the tiles that the cluster keeps.
        if let earlier = folder.earlier, !plan.isShared {
            record.submittedLimit = earlier.submittedLimit
            if earlier.limitInForce != record.limit { record.limitInForce = nil }
        }
        let hasOtherLimit = record.limitInForce == nil
        for (draft, request) in zip(plan.drafts, plan.requests) {
            var request = request
            request.publish.maxFile = record.submittedLimit
            let submitted = try await Patience.outlast(for: patience) { [request] in try await client.submit(request) }
            numbers.append(submitted.job)
            guard !hasOtherLimit else { continue }
            if numbers.count == 1 {
                try await Patience.untilThereIsRoom(for: patience) { [record] in try folder.write(record) }
            }
            if folder.isResumed, submitted.existing {
                try await resume(submitted.job, client)
            } else {
                for warning in draft.warnings + submitted.warnings { Console.warning(warning) }
            }
        }
        if hasOtherLimit {
            // What refuses the other limit leaves the folder to the earlier command.
            for number in numbers { try await checkIsOpen(number, client) }
            try await Patience.untilThereIsRoom(for: patience) { [record] in try folder.write(record) }
            for number in numbers { try await resume(number, withLimit: record.limit, client) }
            record.limitInForce = record.limit
            try await Patience.untilThereIsRoom(for: patience) { [record] in try folder.write(record) }
        }
        var views: [PBJobStatus] = []
        let watcher = JobWatcher(
            client: watching, style: style, quietStart: 1, patience: patience,
            disk: plan.isShared ? nil : folder.url)
        for number in numbers { views.append(try await watcher.follow(number)) }
        return views
    }

    /// - Throws: ``CLIError`` 65 when a job is done: its tiles are gone, and its files have the earlier limit.
    private func checkIsOpen(_ number: UInt64, _ client: ControlClient) async throws {
        let job = try await client.job(number, failures: 0)
        guard job.state == "done" else { return }
        throw CLIError(
            .badData, "\(job.label) is built already with another --max-file, and its tiles are not kept",
            hint: "repeat the earlier command to get its files, or start over with --restart")
    }

    /// Resumes a job of an earlier run with another limit of file sizes: its tiles stay, its packages are merged again.
    ///
    /// - Parameter limit: In bytes; 0 = none.
    private func resume(_ number: UInt64, withLimit limit: UInt64, _ client: ControlClient) async throws {
        let job = try await client.job(number, failures: 0)
        let size = limit == 0 ? "without a limit of file sizes" : "with files of at most \(limit) bytes"
        Console.note(
            "continuing \(job.label) \(size): \(Units.count(job.settled)) of \(Units.count(job.tiles)) tiles are done")
        let retry = PBJobOrder.make {
            $0.job = number
            $0.order = "retry"
            $0.setsMaxFile = true
            $0.publish.maxFile = limit
        }
        _ = try await Patience.outlast(for: patience) { try await client.order(retry) }
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
