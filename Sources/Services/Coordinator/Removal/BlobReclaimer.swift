internal import Blobs
internal import Digests
import Files
import Foundation
import Logging
import Scheduling
import Telemetry

/// Removes the blobs that no job needs any more.
final class BlobReclaimer {
    private let environment: LoopEnvironment
    private let state: CoordinatorState
    /// When the free space of the blobs' disk is checked next.
    private var nextSpaceCheck = Tick(milliseconds: 0)

    init(_ state: CoordinatorState) {
        self.state = state
        environment = state.environment
    }

    /// Removes the blobs of ended jobs that no unfinished job has committed or is committing.
    ///
    /// This may remove a blob that a worker found in the store and is about to commit without writing it again. Then
    /// the commit is refused, or the shard or package is found missing later and is made again. The alternative,
    /// waiting until no job can need the blob, would keep all blobs on a cluster that is never idle.
    func releaseBlobs() {
        guard !environment.options.keepShards else { return }
        for job in state.releases.start(isLiving: state.scheduler.isLiving) {
            remove(unneededBlobsOf: job) { [environment] left in
                guard let left else { return .keptBlobs(job) }
                guard left.isEmpty else { return .postponed(job, left) }
                do {
                    try await environment.store.markReleased(job)
                } catch {
                    // No effect: the next start finds the job unreleased and removes again.
                    environment.logger.info(
                        "Released blobs still listed",
                        metadata: [LogKey.job: "\(job)", LogKey.errorMessage: "\(error)"])
                }
                return .released(job)
            }
        }
    }

    /// Removes the blobs of a finished job except its accepted shards: manifests, merged packages and results that were
    /// not accepted.
    ///
    /// A failure only costs disk space until the next start, which tries again.
    func trimBlobs(of job: JobID) {
        guard !environment.options.keepShards else { return }
        remove(unneededBlobsOf: job) { left in
            left.flatMap { $0.isEmpty ? nil : .trimPostponed(job, $0) }
        }
    }

    /// Removes the blobs of a job that the rows of no other job need, in the background.
    ///
    /// The list is opened when all writes that ended a claim are durable. A claim that ends later is known to the list.
    ///
    /// - Parameter report: Makes the report from the blobs that were left because of a claim; `nil` = it failed.
    private func remove(
        unneededBlobsOf job: JobID, _ report: @escaping @Sendable (Set<Digest>?) async -> Report?
    ) {
        let ticket = environment.removals.open()
        let kept = state.scheduler.givingJobs
        environment.executor.run(on: .removals) { [environment] in
            let removals = environment.removals
            do {
                removals.fill(ticket, try await environment.store.blobs(of: job, keeping: kept))
                while true {
                    // Before the next one is taken: commits wait for a blob that is being removed.
                    try await environment.waitForTurn()
                    guard let digest = removals.next(of: ticket) else { break }
                    try await environment.blobs.remove(digest)
                }
                return await report(removals.end(ticket))
            } catch {
                removals.end(ticket)
                environment.logger.logKept(job, error)
                return await report(nil)
            }
        }
    }

    /// Retries the removals that were postponed because of a claim, if the claim has ended.
    ///
    /// The database rows decide what is needed. So this only queues the removal, which starts when the rows are
    /// durable.
    func retryPostponed() {
        guard !environment.options.keepShards else { return }
        let retry = state.releases.retry(isClaimed: environment.removals.isClaimed)
        if retry.releases { state.tick.tasks.append(.releaseBlobs) }
        guard !retry.trims.isEmpty else { return }
        // A job whose shards are no longer kept is released completely.
        let kept = Set(state.scheduler.baselineJobs)
        state.tick.tasks += retry.trims.filter(kept.contains).map { .trimBlobs($0) }
    }

    /// Jobs that one tick forgets at most.
    private static let forgottenInTick = 16

    /// Forgets the oldest ended jobs when there are too many, and then removes their rows outside of the loop.
    ///
    /// A job whose blobs are still listed stays until they are removed. Otherwise the owner of the blobs would be
    /// unknown.
    func forgetOldJobs() {
        var count = 0
        while count < Self.forgottenInTick, state.scheduler.finishedCount > environment.options.keptJobs,
            let job = state.scheduler.oldestFinished, environment.options.keepShards || !isHeld(job)
        {
            state.handle(.forget(job))
            count += 1
        }
        if count > 0 { removeForgottenRows() }
    }

    /// Removes the rows of forgotten jobs in the background when the writes of this tick are durable.
    func removeForgottenRows() {
        state.tick.tasks.append(
            .run(.removals) { [store = environment.store, logger = environment.logger] in
                do {
                    try await store.removeForgottenJobs()
                } catch {
                    // No effect: the next start, or the next job that is forgotten, removes them.
                    logger.info("Rows of forgotten jobs not removed", metadata: [LogKey.errorMessage: "\(error)"])
                }
                return nil
            })
    }

    /// Whether blobs of an ended job still exist: other jobs may use them, or their removal has not finished.
    private func isHeld(_ job: JobID) -> Bool {
        state.releases.contains(job) || state.scheduler.isGiving(job) || state.scheduler.isWriting(job)
            || state.steps.isOpen(job)
    }

    /// Releases the oldest previous build while the disk of the blobs is nearly full: running jobs have priority over
    /// cached tiles.
    ///
    /// Checks the disk every ten seconds, outside the loop, because the folder may be on a network file system that
    /// hangs.
    func checkSpace() {
        let options = environment.options
        guard options.store == nil, !state.scheduler.baselineJobs.isEmpty, environment.now >= nextSpaceCheck else {
            return
        }
        nextSpaceCheck = environment.now + 10_000
        environment.executor.run(on: .removals) { [logger = environment.logger] in
            // The warning below says that the space is unknown.
            guard let space = try? await FileWork.run({ options.diskSpace(options.blobs) }) else {
                logger.warning(
                    "The free disk space for blobs is unknown", metadata: [LogKey.path: "\(options.blobs.path)"])
                return nil
            }
            guard space.isShort else { return nil }
            logger.notice(
                "Oldest kept tiles released because the disk of the blobs is nearly full",
                metadata: [LogKey.path: "\(options.blobs.path)", LogKey.freeBytes: "\(space.free)"])
            return .event(.blobSpaceShort)
        }
    }

    /// Removes what crashes and late commits left in the blob store.
    ///
    /// Runs once per start.
    ///
    /// Blobs are removed only while no job is unfinished, so that no blob that is still being written is needed.
    func sweep(isIdle: Bool) async throws {
        let named = isIdle && !environment.options.keepShards ? try await environment.store.allBlobs() : nil
        environment.executor.run(on: .removals) {
            [tenure = environment.tenure, blobs = environment.blobs, logger = environment.logger] in
            do {
                try await tenure.waitForTurn()
                try await blobs.removeStaleTemporaries(olderThan: 86_400)
                if let named {
                    // Younger blobs stay, because a new blob may be about to be committed.
                    let removed = try await blobs.sweep(olderThan: 3_600) { named.contains($0) || tenure.isReplaced }
                    if removed > 0 {
                        logger.notice("Unreferenced blobs removed", metadata: [LogKey.blobs: "\(removed)"])
                    }
                }
            } catch {
                logger.info("Old files not removed", metadata: [LogKey.errorMessage: "\(error)"])
            }
            return nil
        }
    }
}

extension Logger {
    fileprivate func logKept(_ job: JobID, _ error: any Error) {
        info("Blobs not removed", metadata: [LogKey.job: "\(job)", LogKey.errorMessage: "\(error)"])
    }
}
