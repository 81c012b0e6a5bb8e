import Foundation
import Logging
import Scheduling
import Shards
import Telemetry

extension CoordinatorEngine {
    /// Releases the oldest previous build while the disk of the blobs is nearly full: running jobs have priority over
    /// cached tiles.
    ///
    /// Checks the disk every ten seconds, outside the loop, because the folder may be on a network file system that
    /// hangs.
    func makeRoom() {
        guard options.store == nil, !scheduler.baselineJobs.isEmpty, now >= nextRoomLook else { return }
        nextRoomLook = now + 10_000
        workshop.run(on: .removals) { [options, logger] in
            guard let room = try? await FileWork.run({ options.diskRoom(options.blobs) }) else {
                logger.warning(
                    "The free disk space for blobs is unknown", metadata: [LogKey.path: "\(options.blobs.path)"])
                return nil
            }
            guard room.isShort else { return nil }
            logger.notice(
                "Oldest kept tiles released because the disk of the blobs is nearly full",
                metadata: [LogKey.path: "\(options.blobs.path)", "packhorse.disk.free": "\(room.free)"])
            return .event(.makeRoom)
        }
    }

    /// Removes the blobs of a finished job except its accepted shards: manifests, merged packages and results that were
    /// not accepted.
    ///
    /// A failure only costs disk space until the next start, which tries again.
    func trimBlobs(of job: JobID) async {
        guard !options.keepShards else { return }
        do {
            let digests = try await store.blobs(of: job, keeping: scheduler.givingJobs)
            let ticket = removals.doom(digests)
            workshop.run(on: .removals) { [blobs, logger, removals] in
                do {
                    while let digest = removals.next(of: ticket) {
                        if let name = Digest(bytes: digest.bytes) { try await blobs.remove(name) }
                    }
                    let left = removals.ended(ticket)
                    return left.isEmpty ? nil : .trimPostponed(job, left)
                } catch {
                    removals.ended(ticket)
                    logger.info("Blobs not removed", metadata: [LogKey.job: "\(job)", LogKey.errorMessage: "\(error)"])
                    return nil
                }
            }
        } catch {
            logger.info("Blobs not removed", metadata: [LogKey.job: "\(job)", LogKey.errorMessage: "\(error)"])
        }
    }
}
