public import OfflineMaps

/// Where an offline pack is; the numbers are those of Mapbox GL.
public enum PackState: Int, Sendable {
    /// Never given: the state is always known.
    case unknown = 0
    /// The pack is not complete and nothing is downloaded.
    case inactive = 1
    /// The pack is downloaded.
    case active = 2
    /// Everything is on the device.
    case complete = 3
    /// The pack was removed; its calls do nothing or throw.
    case invalid = 4

    /// The state of a region and its task.
    public init(_ region: RegionState, _ task: TaskState?) {
        switch task {
        case .waiting, .downloading, .verifying, .installing, .removing: self = .active
        case .paused, .failed: self = .inactive
        case .done, .cancelled, nil:
            switch region {
            case .complete, .stale: self = .complete
            case .loading: self = .active
            case .registered, .incomplete, .damaged: self = .inactive
            }
        }
    }
}

/// How far an offline pack is; none of the numbers ever falls while the pack is downloaded.
public struct PackProgress: Hashable, Sendable {
    /// Resources, tiles and tile packs that are on the device.
    public var countOfResourcesCompleted: UInt64
    /// The bytes of these.
    public var countOfBytesCompleted: UInt64
    /// Tiles that are on the device; a tile pack counts as one.
    public var countOfTilesCompleted: UInt64
    /// The bytes of these.
    public var countOfTileBytesCompleted: UInt64
    /// How many resources the pack needs at least.
    public var countOfResourcesExpected: UInt64
    /// How many resources the pack needs at most; `UInt64.max` until the style and its sources are read.
    public var maximumResourcesExpected: UInt64

    /// The numbers of a progress of the store.
    public init(_ progress: TaskProgress) {
        let (resources, tiles, packs) = (progress.resources, progress.tiles, progress.packs)
        countOfTilesCompleted = tiles.completed + packs.completed
        countOfTileBytesCompleted = tiles.bytes + packs.bytes
        countOfResourcesCompleted = resources.completed + countOfTilesCompleted
        countOfBytesCompleted = resources.bytes + countOfTileBytesCompleted
        countOfResourcesExpected = resources.required + tiles.required + packs.required
        // Without a plan nothing is required yet.
        let isKnown = progress.isPrecise && countOfResourcesExpected > 0
        maximumResourcesExpected = isKnown ? countOfResourcesExpected : .max
    }
}

/// A change of the list of packs or of a pack.
///
/// The packs are named by their objects: when a change is read, the list may have changed again.
public enum PackChange: Hashable, Sendable {
    /// The list was read from the store.
    case set
    /// A pack was added.
    case inserted(OfflinePack)
    /// A pack was removed.
    case removed(OfflinePack)
    /// A pack has another state or progress.
    case progress(OfflinePack)
    /// The most single tiles or tile packs that are allowed would be exceeded.
    case limitReached(UInt64)
    /// The download of a pack failed.
    case failed(OfflinePack, FailureCause)
}
