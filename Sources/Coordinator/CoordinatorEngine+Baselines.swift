import Logging
import Scheduling
import Shards
import Telemetry

extension CoordinatorEngine {
    /// Removes what a job that is done names beside its accepted shards: manifests, merged packages, results nobody accepted.
    ///
    /// A failure costs room until the next start, which does it again.
    func trimBlobs(of job: JobID) async {
        guard !options.keepShards else { return }
        do {
            let digests = try await store.blobs(of: job, keeping: scheduler.givingJobs)
            workshop.run(on: .removals) { [blobs, logger] in
                do {
                    for digest in digests.compactMap({ Digest(bytes: $0.bytes) }) { try await blobs.remove(digest) }
                } catch {
                    logger.info("blobs stay", metadata: [LogKey.job: "\(job)", LogKey.errorMessage: "\(error)"])
                }
                return nil
            }
        } catch {
            logger.info("blobs stay", metadata: [LogKey.job: "\(job)", LogKey.errorMessage: "\(error)"])
        }
    }
}
