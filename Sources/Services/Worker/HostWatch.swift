internal import Blobs
internal import Files
internal import Logging
internal import Telemetry

/// Watches the limits of the machine, and makes the worker refuse work while one is reached.
struct HostWatch: Sendable {
    let limits: HostLimits
    /// The store, when it has files of this process alone.
    let store: (any CachingBlobStore)?
    /// Returns free memory to the system.
    let giveBack: @Sendable () -> Void
    let logger: Logger

    /// Looks until the task is cancelled.
    ///
    /// Between two looks it waits 20 times as long as the first one took, at least one second and at most ten.
    func run(_ shell: WorkerShell) async {
        var reached: Set<HostLimits.Kind> = []
        while !Task.isCancelled {
            let start = ContinuousClock.now
            // Memory that was freed may still count.
            if reached.contains(.memory) { giveBack() }
            let use = await use()
            let spent = ContinuousClock.now - start
            let now = limits.reached(by: use, before: reached)
            if now != reached {
                reached = now
                let reason = limits.reason(reached, use)
                if reason.isEmpty {
                    logger.notice("The limits of this machine are kept again; work is taken")
                } else {
                    logger.notice(
                        "A limit of this machine is reached; no more work is taken until less than nine tenths are used",
                        metadata: [LogKey.reason: "\(reason)"])
                }
                await shell.limit(reason)
            }
            do { try await Task.sleep(for: min(max(.seconds(1), spent * 20), .seconds(10))) } catch { return }
        }
    }

    private func use() async -> HostLimits.Use {
        let measured = try? await FileWork.run {
            HostLimits.Use(
                memory: limits.memory == nil ? nil : HostLimits.residentMemory(),
                scratch: limits.scratch == nil ? nil : store?.localBytes())
        }
        return measured ?? HostLimits.Use()
    }
}
