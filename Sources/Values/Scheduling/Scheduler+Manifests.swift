internal import Digests

/// Manifests that the coordinator's shell is writing.
///
/// The shell reports the end of every write. Until then the job keeps its blobs, because the shell may write another
/// one at any moment. A package has at most one manifest under way: two could end in any order, and the later one could
/// come after the end of the job.
extension Scheduler {
    /// Orders the manifest of a package.
    ///
    /// While one is being written nothing is ordered; its report is handled first.
    mutating func orderManifest(_ job: JobPlace, package: PackageIndex) {
        let work = WorkRef.package(job: job, index: package)
        guard writing[work] == nil else { return }
        writing[work] = ManifestWrite()
        effects.append(.writeManifest(jobs[job].summary.id, package: package))
    }

    /// Records that the inputs of a package's manifest change.
    mutating func outdateManifest(_ job: JobPlace, package: PackageIndex) {
        writing[.package(job: job, index: package)]?.isOutdated = true
    }

    /// Ends the writing of a manifest.
    ///
    /// - Returns: Whether the package waits for exactly this manifest. If not, `digest` is removed with the job, and
    ///   another manifest is ordered if the package needs one.
    mutating func endManifest(_ id: JobID, package: PackageIndex, wrote digest: Digest?) -> Bool {
        guard let job = places[id], jobs[job].packages.indices.contains(package) else { return false }
        let write = writing.removeValue(forKey: .package(job: job, index: package))
        let isWaiting = !jobs[job].summary.state.isFinal && jobs[job].packages[package].state == .manifest
        if isWaiting, write?.isOutdated != true { return true }
        if let digest { store(.orphan(id, digest)) }
        if isWaiting { orderManifest(job, package: package) }
        releaseHeldBack(job)
        return false
    }

    /// Whether a manifest of a job is being written.
    ///
    /// Until that has ended its blobs are not removed, and it is not forgotten.
    public func isWriting(_ id: JobID) -> Bool { places[id].map(isWriting) ?? false }

    private func isWriting(_ job: JobPlace) -> Bool {
        !writing.isEmpty && jobs[job].packages.indices.contains { writing[.package(job: job, index: $0)] != nil }
    }

    /// Does the work for an ended job that waited for the end of its last manifest.
    private mutating func releaseHeldBack(_ job: JobPlace) {
        guard jobs[job].summary.state.isFinal, !isWriting(job) else { return }
        let id = jobs[job].summary.id
        if baselines.contains(id) { effects.append(.trim(id)) } else { releaseUnused(id) }
    }
}

/// A manifest that is being written.
struct ManifestWrite: Sendable {
    /// Whether a shard that it names is being fetched again.
    var isOutdated = false
}
