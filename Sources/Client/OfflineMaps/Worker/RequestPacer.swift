/// Keeps the limits of tile servers: how many requests at once, and how many in a second.
actor RequestPacer {
    private struct Server {
        var running = 0
        var next = ContinuousClock.now
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private var servers: [String: Server] = [:]

    /// Does a request when its server may be asked.
    nonisolated func run<Value: Sendable>(
        _ server: String, within limits: DownloadDetails.RequestLimits?, _ body: @Sendable () async -> Value
    ) async -> Value {
        guard let limits else { return await body() }
        await enter(server, limits)
        let value = await body()
        await leave(server)
        return value
    }

    private func enter(_ server: String, _ limits: DownloadDetails.RequestLimits) async {
        while servers[server, default: Server()].running >= max(1, limits.parallel) {
            await withCheckedContinuation { servers[server, default: Server()].waiting.append($0) }
        }
        servers[server, default: Server()].running += 1
        guard limits.perSecond > 0, limits.perSecond.isFinite else { return }
        let at = max(ContinuousClock.now, servers[server, default: Server()].next)
        servers[server, default: Server()].next = at + .seconds(1 / limits.perSecond)
        // A cancelled request goes on at once: its download ends before it begins.
        try? await Task.sleep(until: at)
    }

    private func leave(_ server: String) {
        guard var state = servers[server] else { return }
        state.running -= 1
        let next = state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        servers[server] = state
        next?.resume()
    }
}
