/// The life of a package: each change of its state, and the work that a state asks for.
extension Scheduler {
    /// Changes the state of a package.
    ///
    /// The caller stores the package afterwards. An illegal transition changes nothing; ``audit()`` reports the first
    /// one.
    mutating func movePackage(_ job: JobPlace, package: PackageIndex, by transition: PackageTransition) {
        let before = jobs[job].packages[package].state
        guard !jobs[job].packages[package].apply(transition), illegalTransition == nil else { return }
        illegalTransition = "job \(jobs[job].summary.id) package \(package): \(transition) in state \(before)"
    }

    /// Starts the work that the state of a package asks for; nothing for a state in which the package waits for another
    /// event.
    ///
    /// | State | Work |
    /// |---|---|
    /// | `manifest` | the shell writes the manifest |
    /// | `ready` | the package is queued for a merger |
    /// | `backoff` | the package moves to its next state, and the work of that state starts |
    /// | `publishing` | the shell publishes the files |
    ///
    /// Repeating it is harmless. It is called
    /// - after each transition into one of these states, by ``startMerges(_:)``,
    ///   ``manifestWritten(_:package:manifest:decides:now:)``, ``commitMerge(_:token:job:package:merged:now:)`` and
    ///   ``returnToQueue(_:now:)``;
    /// - for every package at the start of a run (``start(now:)``), because the work of the previous run is lost;
    /// - when a backoff has ended (``fireAlarms(now:)``);
    /// - for ready packages when the priority of their job changes, because the queue entry contains the priority.
    mutating func startNextStep(_ job: JobPlace, package: PackageIndex) {
        switch jobs[job].packages[package].state {
        case .manifest: orderManifest(job, package: package)
        case .ready: queueMerge(job, package: package)
        case .backoff:
            // While some of its shards are being fetched again, a manifest would lack them.
            movePackage(job, package: package, by: .retried(hasOpenBatches: jobs[job].needs.isOpen(package)))
            storePackage(job, package: package)
            startNextStep(job, package: package)
        case .publishing: orderPublication(job, package: package)
        case .waiting, .leased, .published, .unchanged, .failed: break
        }
    }
}
