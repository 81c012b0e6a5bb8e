internal import Synchronization

/// Counts the open connections, in all and of each network.
package final class ConnectionCounts: Sendable {
    private struct State {
        var total = 0
        var networks: [NetworkAddress: Int] = [:]
    }

    private let most: Int
    private let maxEach: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - most: Connections in all.
    ///   - maxEach: Connections of one network.
    package init(most: Int, maxEach: Int) {
        self.most = most
        self.maxEach = maxEach
    }

    /// How many are open.
    package var count: Int { state.withLock { $0.total } }

    /// Counts a new connection.
    ///
    /// - Parameter network: `nil` for a peer whose connections are not counted apart, as those of a proxy.
    /// - Returns: Whether it may stay; one that may not is not counted.
    func open(_ network: NetworkAddress?) -> Bool {
        state.withLock { state in
            guard state.total < most else { return false }
            if let network {
                guard state.networks[network, default: 0] < maxEach else { return false }
                state.networks[network, default: 0] += 1
            }
            state.total += 1
            return true
        }
    }

    /// Counts the end of a connection that was counted.
    func close(_ network: NetworkAddress?) {
        state.withLock { state in
            state.total -= 1
            guard let network, let count = state.networks[network] else { return }
            state.networks[network] = count > 1 ? count - 1 : nil
        }
    }
}
