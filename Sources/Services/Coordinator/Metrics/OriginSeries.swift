import Scheduling

/// The counts of origins in a bounded number of series: the busiest ones by name, and one series for the rest.
///
/// No series falls. The counts of an origin go to its own series while it is named, otherwise to the series of the rest. An origin
/// that was named before continues its own series.
struct OriginSeries: Sendable {
    /// Counts of requests.
    struct Counts: Hashable, Sendable {
        var requests: UInt64 = 0
        var throttled: UInt64 = 0
        var failed: UInt64 = 0

        fileprivate mutating func add(_ other: Counts) {
            requests &+= other.requests
            throttled &+= other.throttled
            failed &+= other.failed
        }

        /// What is more than in `before`; all of it when the origin is counted from the beginning again.
        fileprivate func since(_ before: Counts) -> Counts {
            guard requests >= before.requests, throttled >= before.throttled, failed >= before.failed else {
                return self
            }
            return Counts(
                requests: requests - before.requests, throttled: throttled - before.throttled,
                failed: failed - before.failed)
        }
    }

    private struct Entry {
        /// What the scheduler counted when it was asked last.
        var seen = Counts()
        /// All requests in this process, which decide who is named.
        var total: UInt64 = 0
        /// The counts of its own series.
        var own = Counts()
    }

    /// Number of origins with a series of their own.
    static let most = 50
    /// Number of origins that are known; further ones are counted as the rest.
    private static let mostKnown = 10_000

    private let most: Int
    private var entries: [String: Entry] = [:]
    private var names: Set<String> = []
    /// The counts of the origins without a name.
    private(set) var rest = Counts()
    /// The counts that were last seen of unknown origins.
    private var unknown: [String: Counts] = [:]

    init(most: Int = most) { self.most = most }

    /// The named origins with their counts, by name.
    var named: [(name: String, counts: Counts)] {
        names.sorted().map { ($0, entries[$0]?.own ?? Counts()) }
    }

    /// Whether an origin has a series of its own.
    func isNamed(_ name: String) -> Bool { names.contains(name) }

    /// Adds what origins have counted since the last call.
    mutating func add(_ origins: [(name: String, counts: Counts)]) {
        var seenUnknown: [String: Counts] = [:]
        for (name, counts) in origins {
            guard entries[name] != nil || entries.count < Self.mostKnown else {
                rest.add(counts.since(unknown[name] ?? Counts()))
                seenUnknown[name] = counts
                continue
            }
            let entry = entries[name, default: Entry()]
            let new = counts.since(entry.seen)
            entries[name, default: Entry()].seen = counts
            entries[name]?.total &+= new.requests
            if names.count < most { names.insert(name) } else { exchange(name) }
            if names.contains(name) { entries[name]?.own.add(new) } else { rest.add(new) }
        }
        unknown = seenUnknown
        // An origin that is gone is counted from the beginning when it comes back.
        let present = Set(origins.map(\.name))
        for name in entries.keys where !present.contains(name) { entries[name]?.seen = Counts() }
    }

    /// Gives an origin the place of the least busy named one, when it is busier.
    private mutating func exchange(_ name: String) {
        guard !names.contains(name), let total = entries[name]?.total,
            let least = names.min(by: { (entries[$0]?.total ?? 0, $1) < (entries[$1]?.total ?? 0, $0) }),
            total > entries[least]?.total ?? 0
        else { return }
        names.remove(least)
        names.insert(name)
    }
}
