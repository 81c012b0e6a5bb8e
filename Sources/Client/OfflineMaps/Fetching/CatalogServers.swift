internal import CatalogFormat
internal import Foundation
internal import Synchronization

/// The addresses of one catalog: the one that the store was given, and the mirrors that its list names.
///
/// It says which of them are asked for a file, and in which order: first the given one, then the mirrors as they are
/// listed. One that did not answer lately is asked last. One that gave wrong bytes is not asked at all.
final class CatalogServers: Sendable {
    typealias Warning = @Sendable (RefusedAddress) -> Void

    /// Where a file can be asked for.
    struct Place: Hashable, Sendable {
        /// The address of the catalog there, with a slash at its end.
        let server: URL
        /// The address of the file.
        let url: URL
        /// Its place among the addresses of the catalog, from 0.
        let rank: Int
    }

    /// Which addresses gave the bytes of a part file.
    struct Givers: Hashable, Sendable {
        var servers: Set<URL> = []
        /// Whether an earlier process may have got some of them.
        var hasUnknown = false
        /// Whether all bytes have to come from one address, because a mixture was wrong.
        var isSingle = false

        /// The only address that gave bytes.
        var only: URL? { hasUnknown || servers.count != 1 ? nil : servers.first }
    }

    private struct State {
        var mirrors: [URL] = []
        /// Until when they are not asked; `nil`: as long as the store is open.
        var refused: [URL: ContinuousClock.Instant?] = [:]

        func isRefused(_ server: URL) -> Bool {
            guard let end = refused[server] else { return false }
            return end.map { $0 > .now } ?? true
        }
        var rests: [URL: ContinuousClock.Instant] = [:]
        var givers: [String: Givers] = [:]
        var warned: Set<RefusedAddress> = []
    }

    /// How long an address that did not answer is asked last.
    static let rest = Duration.seconds(60)
    /// How long an address is not asked that gave no acceptable list: it may be the portal of a network that was left.
    static let listRefusal = Duration.seconds(3_600)

    private let base: URL?
    private let warn: Warning?
    private let state = Mutex(State())

    /// - Parameter address: The one that the store was given; mirrors of a folder are not used.
    init(_ address: URL?, warn: Warning? = nil) {
        base = address.map { CatalogAddress($0).folder }
        self.warn = warn
    }

    /// Takes the mirrors of the list.
    ///
    /// An `http` mirror is not used beside an `https` address: no redirect leads there either.
    func setMirrors(_ addresses: [String]) {
        guard let base, let scheme = base.scheme?.lowercased(), scheme == "http" || scheme == "https" else { return }
        let urls = addresses.prefix(CatalogMirror.limit).compactMap { address -> URL? in
            guard CatalogMirror.isValid(address), let url = URL(string: address), url != base,
                AnswerRule.mayFollow(from: base, to: url)
            else { return nil }
            return url
        }
        state.withLock { $0.mirrors = urls }
    }

    /// Asks every address again: the store is opened again.
    func forgetRefusals() { state.withLock { ($0.refused, $0.warned) = ([:], []) } }

    /// Where to ask for a file, in order; only where it is, when it is not a file of the catalog.
    func places(of address: URL) -> [Place] {
        guard let base, let path = Self.path(of: address, below: base) else {
            return [Place(server: address, url: address, rank: 0)]
        }
        return state.withLock { state in
            let now = ContinuousClock.now
            let all = ([base] + state.mirrors).enumerated().filter { !state.isRefused($0.element) }
            let (resting, ready) = (
                all.filter { state.rests[$0.element] ?? now > now },
                all.filter { state.rests[$0.element] ?? now <= now }
            )
            return (ready + resting).compactMap { rank, server in
                URL(string: server.absoluteString + path).map { Place(server: server, url: $0, rank: rank) }
            }
        }
    }

    private static func path(of address: URL, below base: URL) -> Substring? {
        let (text, start) = (address.absoluteString, base.absoluteString)
        return text.hasPrefix(start) ? text.dropFirst(start.count) : nil
    }

    // MARK: What came of a request

    /// Notes why a request failed: an address that does not work now is asked last for a while.
    func failed(_ place: Place, _ error: FetchError) {
        let isDown = error.cause == .connection || error.status.map { $0 == 429 || 500...599 ~= $0 } ?? false
        guard isDown else { return }
        state.withLock { $0.rests[place.server] = ContinuousClock.now + Self.rest }
    }

    /// Notes that an address works.
    func worked(_ place: Place) { state.withLock { $0.rests[place.server] = nil } }

    /// Asks an address no more, unless it is the last one, and says so.
    func refuse(_ server: URL, _ reason: RefusedAddress.Reason) {
        let isLast = state.withLock { state in
            let others = ([base].compactMap { $0 } + state.mirrors).contains {
                $0 != server && !state.isRefused($0)
            }
            if others {
                let end: ContinuousClock.Instant? = reason == .wrongList ? .now + Self.listRefusal : nil
                state.refused.updateValue(end, forKey: server)
            }
            return !others
        }
        if !isLast { say(RefusedAddress(address: server, reason: reason)) }
    }

    /// Says once what an address gave.
    func say(_ refused: RefusedAddress) {
        if state.withLock({ $0.warned.insert(refused).inserted }) { warn?(refused) }
    }

    // MARK: Part files

    /// Which addresses gave the bytes of a part file that has some, or none.
    func givers(of digest: String, hasBytes: Bool) -> Givers {
        state.withLock { state in
            guard var known = state.givers[digest] else { return Givers(hasUnknown: hasBytes) }
            if !hasBytes { (known.servers, known.hasUnknown) = ([], false) }
            return known
        }
    }

    /// Notes them; `nil` when the file is whole or gone.
    func note(_ givers: Givers?, of digest: String) { state.withLock { $0.givers[digest] = givers } }
}
