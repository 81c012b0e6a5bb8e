import Scheduling

/// The counts of origins in a bounded number of series: the busiest ones by name, and one series for the rest.
///
/// No series falls. The counts of an origin go to its own series while it is named, otherwise to the series of the rest.
/// An origin that was named before continues its own series.
struct OriginSeries: Sendable {
    private struct Entry {
        /// What was counted when it was looked at last; its requests decide who is named.
        var seen = OriginCounts()
        /// The counts of its own series.
        var own = OriginCounts()
    }

    /// Number of origins with a series of their own.
    static let most = 50
    /// The name of the series of the rest.
    static let rest = "other"

    private let most: Int
    private var entries: [String: Entry] = [:]
    private var names: Set<String> = []
    /// The counts of the origins without a name.
    private(set) var rest = OriginCounts()

    init(most: Int = most) { self.most = most }

    /// The named origins with their counts, by name.
    var named: [(name: String, counts: OriginCounts)] {
        names.sorted().map { ($0, entries[$0]?.own ?? OriginCounts()) }
    }

    /// Adds what origins have counted since the last call.
    ///
    /// - Parameter counts: Of all origins; no count is smaller than in the last call.
    mutating func add(_ counts: [String: OriginCounts]) {
        let changed = counts.filter { entries[$0.key]?.seen != $0.value }
        for (name, now) in changed.sorted(by: { $0.key < $1.key }) {
            let more = now.since(entries[name]?.seen ?? OriginCounts())
            entries[name, default: Entry()].seen = now
            nameIfBusy(name)
            if names.contains(name) { entries[name]?.own.add(more) } else { rest.add(more) }
        }
    }

    /// Gives an origin a place, that of the least busy named one if need be.
    private mutating func nameIfBusy(_ name: String) {
        guard !names.contains(name), !name.isEmpty, name != Self.rest else { return }
        guard names.count >= most else {
            names.insert(name)
            return
        }
        func requests(_ name: String) -> UInt64 { entries[name]?.seen.requests ?? 0 }
        guard let least = names.min(by: { (requests($0), $1) < (requests($1), $0) }), requests(name) > requests(least)
        else { return }
        names.remove(least)
        names.insert(name)
    }
}
