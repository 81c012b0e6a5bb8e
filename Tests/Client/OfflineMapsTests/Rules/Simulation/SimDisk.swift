@testable import OfflineMaps

/// The disk of a device: what survives a crash.
struct SimDisk {
    struct Part {
        var size: UInt64
        /// Whether bytes of it are not those of the catalog.
        var isBad = false
    }

    var rows = StoreRows()
    var parts: [String: Part] = [:]
    /// The tiles of packs that are or were filled tile by tile, by the pack's digest.
    var tiles: [String: Set<Int>] = [:]
    var files: [FileID: (bytes: UInt64, isBad: Bool)] = [:]
    /// Requests that have no answer yet; a row each, so that a crash loses none.
    var inbox: [(id: RequestID, request: Request)] = []
    var capacity: UInt64
    /// What others have on the disk.
    var others: UInt64 = 0

    var used: UInt64 { parts.values.reduce(0) { $0 + $1.size } + files.values.reduce(0) { $0 + $1.bytes } }
    var free: UInt64 { capacity > used + others ? capacity - used - others : 0 }
}
