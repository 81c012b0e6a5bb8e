#if canImport(Network)
    internal import Dispatch
    internal import Network
    public import OfflineMaps

    /// Which network the system has, as `StoreOptions.monitor` of an app.
    public struct PathMonitor: NetworkMonitor {
        /// Watches nothing yet.
        public init() {}

        /// The state now and each change of it, until the stream is dropped.
        public func states() -> AsyncStream<NetworkState> {
            AsyncStream { continuation in
                let monitor = NWPathMonitor()
                monitor.pathUpdateHandler = { continuation.yield(Self.state($0)) }
                continuation.onTermination = { _ in monitor.cancel() }
                monitor.start(queue: DispatchQueue(label: "offline-maps-network"))
            }
        }

        private static func state(_ path: NWPath) -> NetworkState {
            guard path.status == .satisfied else { return .none }
            return path.isExpensive || path.isConstrained ? .expensive : .free
        }
    }
#endif
