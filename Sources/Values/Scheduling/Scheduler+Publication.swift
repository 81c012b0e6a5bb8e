extension Scheduler {
    /// Orders the publication of a merged package; in a job that publishes its packages together, of all of them as soon as
    /// each is merged.
    ///
    /// Until then the merged ones stay `publishing`. So after a restart the same states lead to the same order.
    mutating func orderPublication(_ job: JobPlace, package: PackageIndex) {
        let id = jobs[job].summary.id
        guard jobs[job].publishesTogether else {
            if let merged = jobs[job].packages[package].merged {
                effects.append(.publish(id, package: package, merged))
            }
            return
        }
        guard canPublishTogether(id) else { return }
        let isOrdered = effects.contains { if case .publishTogether(id) = $0 { true } else { false } }
        if !isOrdered { effects.append(.publishTogether(id)) }
    }

    /// Whether each package of a job is merged or already in the catalog.
    public func canPublishTogether(_ id: JobID) -> Bool {
        guard let job = places[id] else { return false }
        return jobs[job].packages.allSatisfy { $0.state == .publishing || $0.state.isPublished }
    }

    /// From now on each package of the job is published when it is ready.
    mutating func publishApart(_ id: JobID) {
        guard let job = places[id] else { return }
        jobs[job].publishesTogether = false
    }

    /// Whether no package of the job can be published any more: one has failed, and they are published together.
    func isHeldBackForGood(_ job: JobPlace) -> Bool {
        jobs[job].publishesTogether && jobs[job].packages.contains { $0.state == .failed }
    }
}
