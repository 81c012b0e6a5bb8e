import Scheduling
import Wire
import ZeroMQ

/// The connection of each session, and the peers that sent too many malformed frames.
struct Peers {
    struct Route {
        var peer: PeerID
        let user: String?
        /// Frames sent in this session.
        var sent: UInt64 = 0
        /// The wire minor agreed on in its hello; the lowest before that.
        var minor = WireVersion.minors.lowerBound
        /// The roles of its key at its last message.
        var roles: PeerRoles?
    }

    private struct Strikes {
        var times: [Tick] = []
        var ignoredUntil: Tick?
    }

    /// Three malformed frames within a minute end the connection.
    ///
    /// Later frames of the connection are ignored. The key is not blocked: several workers may share it, and the others
    /// are not at fault.
    static let maxStrikes = 3
    static let strikeSpan: Int64 = 60_000

    private var routes: [SessionID: Route] = [:]
    private var sessions: [PeerID: SessionID] = [:]
    private var strikes: [PeerID: Strikes] = [:]

    /// Whether frames of the peer are dropped without decoding.
    mutating func isIgnored(_ peer: PeerID, now: Tick) -> Bool {
        guard let until = strikes[peer]?.ignoredUntil else { return false }
        if until > now { return true }
        strikes[peer] = nil
        return false
    }

    /// Counts a malformed frame; `true` when the peer is ignored from now on.
    mutating func strike(_ peer: PeerID, now: Tick) -> Bool {
        // Peers reconnect under new names. A full table is cleared, so that it cannot grow.
        if strikes.count >= 4_096, strikes[peer] == nil { strikes = [:] }
        var record = strikes[peer] ?? Strikes()
        record.times.removeAll { now - $0 >= Self.strikeSpan }
        record.times.append(now)
        if record.times.count >= Self.maxStrikes { record.ignoredUntil = now + Self.strikeSpan }
        strikes[peer] = record
        return record.ignoredUntil != nil
    }

    /// Stores the connection of a session; `false` when the session belongs to another user.
    mutating func setConnection(of session: SessionID, to peer: PeerID, user: String?) -> Bool {
        if let route = routes[session] {
            guard route.user == user else { return false }
            if route.peer != peer {
                sessions[route.peer] = nil
                routes[session]?.peer = peer
            }
        } else {
            routes[session] = Route(peer: peer, user: user)
        }
        sessions[peer] = session
        return true
    }

    /// Stores the wire minor that a session's hello led to.
    mutating func setMinor(_ minor: UInt8, of session: SessionID) { routes[session]?.minor = minor }

    /// Whether the roles of a session's key have changed since its last message.
    mutating func haveChanged(_ roles: PeerRoles, of session: SessionID) -> Bool {
        guard let route = routes[session] else { return false }
        routes[session]?.roles = roles
        return route.roles.map { $0 != roles } ?? false
    }

    /// The peer of a session, the number of the next frame to it and its wire minor; `nil` for an unknown session.
    mutating func next(for session: SessionID) -> (peer: PeerID, seq: UInt64, minor: UInt8)? {
        guard var route = routes[session] else { return nil }
        route.sent += 1
        routes[session] = route
        return (route.peer, route.sent, route.minor)
    }

    /// Forgets sessions for which `isKnown` returns false.
    mutating func prune(_ isKnown: (SessionID) -> Bool) {
        for (session, route) in routes where !isKnown(session) {
            routes[session] = nil
            if sessions[route.peer] == session { sessions[route.peer] = nil }
        }
    }

    var count: Int { routes.count }
}
