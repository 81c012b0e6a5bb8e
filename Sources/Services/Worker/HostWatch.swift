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

    /// Looks once a second, or less often where looking takes long, until the task is cancelled.
    func run(_ shell: WorkerShell) async {
        var wasReached = false
        while !Task.isCancelled {
            let start = ContinuousClock.now
            // Memory that was freed may still count.
            if wasReached { giveBack() }
            let reason = limits.reached(by: await use(), wasReached: wasReached)
            if reason.isEmpty == wasReached {
                wasReached = !reason.isEmpty
                if wasReached {
                    logger.notice(
                        "A limit of this machine is reached; no more work is taken until less than nine tenths are used",
                        metadata: [LogKey.reason: "\(reason)"])
                } else {
                    logger.notice("The limits of this machine are kept again; work is taken")
                }
                await shell.limit(reason)
            }
            let spent = ContinuousClock.now - start
            do { try await Task.sleep(for: max(.seconds(1), spent * 20)) } catch { return }
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
