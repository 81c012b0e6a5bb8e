internal import Foundation

/// Whether the name of a host has an address.
public enum HostLookup {
    /// What the resolver of the system says about a name.
    public enum Answer: Sendable, Hashable {
        case found
        /// The name does not exist, or has no address.
        case unknown
        /// The resolver did not answer, so that nothing is known.
        case silent
    }

    /// Asks the resolver of the system, once.
    ///
    /// An address in digits is found without a question. A resolver that hangs is not waited for longer than `limit`; its thread ends by itself.
    public static func answer(for name: String, within limit: Duration = .seconds(10)) async -> Answer {
        let (answers, continuation) = AsyncStream.makeStream(of: Answer.self, bufferingPolicy: .bufferingOldest(1))
        Thread.detachNewThread { continuation.yield(ask(name)) }
        let alarm = Task {
            try await Task.sleep(for: limit)
            continuation.yield(.silent)
        }
        defer { alarm.cancel() }
        for await answer in answers { return answer }
        return .silent
    }

    private static func ask(_ name: String) -> Answer {
        var found: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(name, nil, nil, &found)
        if let found { freeaddrinfo(found) }
        return switch status {
        case 0: .found
        case EAI_NONAME, noAddress: .unknown
        default: .silent
        }
    }

    /// `EAI_NODATA`, which glibc defines for GNU sources only: the name exists and has no address.
    ///
    /// Source: `netdb.h` of glibc 2.36.
    private static let noAddress: Int32 = -5
}
