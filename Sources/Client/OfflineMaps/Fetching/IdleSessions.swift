internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The sessions that no fetcher uses at the moment; the next fetcher with the same times takes one of them.
///
/// No session is ever torn down: on Linux, the end of a session races with its sockets and ends the process
/// (swiftlang/swift-corelibs-foundation PR#5491). There are as many sessions as fetchers were in use at one time.
enum IdleSessions {
    struct Key: Hashable, Sendable {
        var stall: Duration
        var total: Duration
    }

    /// A session, and the delegate that it keeps.
    struct Session: Sendable {
        let session: URLSession
        let delegate: SessionDelegate
    }

    private static let sessions = Mutex<[Key: [Session]]>([:])

    static func borrow(_ key: Key) -> Session { sessions.withLock { $0[key]?.popLast() } ?? make(key) }

    /// Downloads that were cancelled may still be ending.
    static func giveBack(_ session: Session, _ key: Key) { sessions.withLock { $0[key, default: []].append(session) } }

    private static func make(_ key: Key) -> Session {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.timeoutIntervalForRequest = seconds(key.stall)
        configuration.timeoutIntervalForResource = seconds(key.total)
        let delegate = SessionDelegate()
        return Session(
            session: URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil),
            delegate: delegate)
    }

    private static func seconds(_ duration: Duration) -> TimeInterval {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }
}
