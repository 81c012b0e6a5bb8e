internal import Synchronization

/// Whether requests for what is viewed may be sent at this moment.
final class NetworkPermission: Sendable {
    private struct State {
        var rule: NetworkRule
        var isForcedOffline = false
        var network: NetworkState?
    }

    private let state: Mutex<State>

    init(rule: NetworkRule = .any) { state = Mutex(State(rule: rule)) }

    /// Whether a request may be sent.
    ///
    /// Without a network monitor every network counts as free.
    var allowsRequests: Bool {
        state.withLock { state in
            guard !state.isForcedOffline else { return false }
            switch (state.rule, state.network ?? .free) {
            case (.none, _), (_, .none): return false
            case (.notExpensive, let network): return network == .free
            case (.any, _): return true
            }
        }
    }

    /// Sets the store's rule.
    func set(rule: NetworkRule) { state.withLock { $0.rule = rule } }

    /// Sets whether the app wants the store to behave as without a network.
    func set(isForcedOffline: Bool) { state.withLock { $0.isForcedOffline = isForcedOffline } }

    /// Sets what the network monitor has found.
    func set(network: NetworkState?) { state.withLock { $0.network = network } }
}
