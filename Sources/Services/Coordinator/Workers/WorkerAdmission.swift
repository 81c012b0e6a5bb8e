internal import Blobs
import Scheduling
import Shards
import Wire
import ZeroMQ

/// Whether a worker fits this coordinator, and what it may do.
struct WorkerAdmission {
    /// The shard format that jobs of this build use.
    static let shardFormat: UInt32 = 1
    /// The newest package format.
    static let newestPackageFormat: UInt32 = 2
    /// Package formats that packages of this coordinator may have.
    static let packageFormats: Set<UInt32> = [1, newestPackageFormat]

    let environment: LoopEnvironment
    let hello: PBHello

    /// Why a worker is refused, or `nil`.
    var refusal: PBReject? {
        do {
            _ = try WireVersion.negotiate(minimum: hello.wireMinorMin, maximum: hello.wireMinorMax)
        } catch {
            return .make {
                $0.code = "version-mismatch"
                $0.text = error.message
            }
        }
        if let problem = WorkerLabel.problem(in: hello.labels) {
            return .make {
                $0.code = "bad-label"
                $0.text = problem
            }
        }
        if hello.streams && environment.blobPort == 0 {
            return .make {
                $0.code = "no-blob-endpoint"
                $0.text = "The coordinator streams no blobs. Give the worker the shared folder with --blobs."
            }
        }
        guard hello.streams || hello.blobStore == environment.blobs.id else {
            return .make {
                $0.code = "wrong-blob-store"
                $0.text =
                    "The worker's blob store is '\(hello.blobStore.prefix(64))', the coordinator's is '\(environment.blobs.id)'."
                    + " Point the worker's --blobs at the folder the coordinator uses."
            }
        }
        let lacksShards = hello.canFetch && !hello.shardFormats.contains(Self.shardFormat)
        let lacksPackages = hello.canMerge && !hello.canFetch && packageFormat == nil
        guard lacksShards || lacksPackages else { return nil }
        return .make {
            $0.code = "version-mismatch"
            $0.text =
                "The worker does not write \(lacksShards ? "shard" : "package") format"
                + " \(lacksShards ? Self.shardFormat : Self.newestPackageFormat). Use one build for all."
        }
    }

    /// Why another worker does not fit, or `nil`.
    func refusalWhenFull(_ id: SessionID, _ scheduler: Scheduler) -> PBReject? {
        guard !scheduler.knows(id), scheduler.sessionCount >= environment.options.maxSessions else { return nil }
        return .make {
            $0.code = "too-many-workers"
            $0.text =
                "\(scheduler.sessionCount) workers are known already. Silent ones are forgotten after ten minutes."
            $0.retriable = true
        }
    }

    /// The wire minor for a worker whose range overlaps ours.
    var minor: UInt8 { UInt8(clamping: min(hello.wireMinorMax, UInt32(WireVersion.minors.upperBound))) }

    /// The newest package format that the worker and this build both support.
    private var packageFormat: UInt32? { hello.packageFormats.filter(Self.packageFormats.contains).max() }

    /// What the worker can do and its key permits.
    func profile(roles: PeerRoles, _ scheduler: Scheduler) -> SessionProfile {
        var profile = WireConversions.profile(hello)
        profile.canFetch = profile.canFetch && roles.contains(.worker)
        profile.canMerge = profile.canMerge && roles.contains(.merger) && mayMerge(scheduler)
        profile.packageFormat = packageFormat ?? 0
        return profile
    }

    /// Whether the worker gets merges.
    ///
    /// A worker of the previous build gets them only while no newer one is connected, because it cannot continue
    /// packages of the newer format.
    private func mayMerge(_ scheduler: Scheduler) -> Bool {
        guard let packageFormat else { return false }
        return packageFormat == Self.newestPackageFormat
            || !scheduler.canMerge(packageFormat: Self.newestPackageFormat)
    }
}
