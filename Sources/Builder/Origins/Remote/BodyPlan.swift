import Synchronization

/// Plans the ranges to request, over all batches of a process: a batch may use the allowance that another batch saved.
///
/// Batches inside an area have no gaps; batches at its border have many. Bodies that are stored far away and are needed
/// repeatedly, such as a sea tile, are cached.
final class BodyPlan: Sendable {
    /// Largest allowance kept for later batches, in bytes.
    private static let maxSaved = 8.0 * 1_048_576
    /// Largest number of bytes of cached bodies, and of one cached body.
    private static let maxKept = (all: 8 << 20, one: 16 << 10)

    private struct State {
        var saved = 0.0
        var kept: [Range<UInt64>: (body: [UInt8], lastUse: Int)] = [:]
        var keptBytes = 0
        var uses = 0
    }
    private let state = Mutex(State())
    private let overfetch: Double
    private let most: UInt64

    /// - Parameters:
    ///   - overfetch: Bytes of gaps, as a share of the bytes wanted.
    ///   - most: The most bytes of a part.
    init(overfetch: Double, most: UInt64) {
        (self.overfetch, self.most) = (overfetch, most)
    }

    /// - Parameter wanted: Ascending, without overlap.
    func parts(_ wanted: [Range<UInt64>]) -> [JoinedRanges.Part] {
        state.withLock { state in
            var allowance = state.saved + JoinedRanges.bytes(wanted) * overfetch
            defer { state.saved = min(allowance, Self.maxSaved) }
            return JoinedRanges.parts(wanted, allowance: &allowance, most: most)
        }
    }

    /// A body that was kept.
    func body(at place: Range<UInt64>) -> [UInt8]? {
        state.withLock { state in
            state.uses += 1
            state.kept[place]?.lastUse = state.uses
            return state.kept[place]?.body
        }
    }

    /// Caches a body that needed a separate request.
    func cache(_ body: [UInt8], at place: Range<UInt64>) {
        guard body.count <= Self.maxKept.one else { return }
        state.withLock { state in
            guard state.kept[place] == nil else { return }
            state.uses += 1
            state.kept[place] = (body, state.uses)
            state.keptBytes += body.count
            guard state.keptBytes > Self.maxKept.all else { return }
            // Removes half of them at once, so that the search for the oldest is rare.
            for (old, entry) in state.kept.sorted(by: { $0.value.lastUse < $1.value.lastUse })
            where state.keptBytes > Self.maxKept.all / 2 {
                state.kept[old] = nil
                state.keptBytes -= entry.body.count
            }
        }
    }
}
