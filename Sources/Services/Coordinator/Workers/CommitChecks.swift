import Blobs
import Digests
import Logging
import Scheduling
import Telemetry
import Tiles
import Wire

/// The lookups of committed blobs: a commit counts only if the blobs that it names exist.
///
/// The blob store is asked outside the loop.
final class CommitChecks {
    private let environment: LoopEnvironment
    private let state: CoordinatorState
    /// Commits whose blobs are being looked up.
    private var running: Set<CommitCheck> = []

    init(_ state: CoordinatorState) {
        self.state = state
        environment = state.environment
    }

    /// Starts the lookup of a commit's blobs.
    func start(_ body: PBCommit, _ request: WorkerRequest) {
        guard let result = WireConversions.result(body) else { return }
        let check = CommitCheck(session: request.session, token: LeaseToken(body.token))
        // Workers repeat unanswered messages. The check of the first one is still running.
        guard running.count < environment.options.maxChecks, running.insert(check).inserted else { return }
        let digests = result.blobs
        for digest in digests { environment.removals.claim(digest) }
        environment.executor.run(on: .checks) { [removals = environment.removals, blobs = environment.blobs] in
            do {
                for digest in digests { await removals.waitUntilFree(digest) }
                return .checked(check, request, result, try await Self.problem(of: result, in: blobs))
            } catch {
                for digest in digests { removals.endClaim(of: digest, mayBeNamed: false) }
                return .unchecked(check, why: "\(error)")
            }
        }
    }

    /// Handles a commit whose blobs were looked up.
    func finish(_ check: CommitCheck, request: WorkerRequest, result: CommitResult, trouble: Trouble?) {
        running.remove(check)
        let result = serving(result, of: check.token)
        let event =
            trouble.map { Event.refusedCommit(check.session, check.token, $0) }
            ?? .commit(check.session, check.token, result)
        state.apply(event, answering: request)
        // Removal lists that are made from now on see the writes of this tick.
        for digest in result.blobs { environment.removals.endClaim(of: digest, mayBeNamed: trouble == nil) }
    }

    /// Adds to a plan which packages need its parts, unless there are too many of both to compare.
    private func serving(_ result: CommitResult, of token: LeaseToken) -> CommitResult {
        guard case .plan(var plan) = result, let job = state.scheduler.job(holding: token),
            let packages = state.jobs.spec(of: job)?.packages, packages.count > 1,
            packages.count * plan.parts.count <= Self.maxServed
        else { return result }
        plan.served = plan.parts.map { part in
            packages.indices.filter { packages[$0].mask.contains(part.cell) }.map(PackageIndex.init)
        }
        return .plan(plan)
    }

    /// Parts times packages, compared in the loop: some tens of milliseconds.
    private static let maxServed = 500_000

    /// The store did not answer, so the coordinator does not answer either: the worker keeps its result and sends it
    /// again.
    func abandon(_ check: CommitCheck, _ why: String) {
        running.remove(check)
        environment.logger.warning(
            "Blob store does not answer; a result waits",
            metadata: [LogKey.token: "\(check.token.rawValue)", LogKey.errorMessage: "\(why)"])
    }

    /// Why the blobs of a result cannot be used, or `nil`.
    private static func problem(
        of result: CommitResult, in blobs: any ManagedBlobStore
    ) async throws -> Trouble? {
        let named: [(digest: Digest, size: UInt64)] =
            switch result {
            case .fetch(let digest, let counts, _): [(digest, counts.shardBytes)]
            case .plan(let plan): [(plan.digest, plan.bytes)]
            // The size of a package in parts is the sum of its files, all of which are named.
            case .merge(let package):
                (package.parts.isEmpty ? [(package.digest, package.size)] : [])
                    + package.files.map { ($0.digest, $0.size) }
            }
        for (digest, size) in named {
            guard let found = try await blobs.size(of: digest) else {
                return Trouble(cause: "blob-missing", detail: "\(digest) is not in the coordinator's blob store")
            }
            guard found == size else {
                return Trouble(cause: "blob-missing", detail: "\(digest) has \(found) bytes, the commit says \(size)")
            }
        }
        return nil
    }
}

extension CommitResult {
    /// The shard, the plan, or the files of the package, that the result names.
    fileprivate var blobs: [Digest] {
        switch self {
        case .fetch(let digest, _, _): [digest]
        case .plan(let plan): [plan.digest]
        case .merge(let package): package.digests
        }
    }
}
