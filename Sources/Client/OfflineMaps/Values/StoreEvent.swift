public import Tiles

/// Something that happened in the store.
public enum StoreEvent: Sendable {
    /// A newer catalog was accepted.
    case catalogUpdated
    /// The catalog could not be read.
    case catalogFailed(FailureCause)
    /// A task has another state or progress.
    case task(StoreTask)
    /// The list of regions or a region changed.
    case regions
    /// An item is readable in a version; a renderer drops the tiles of the mask, or all without a mask.
    case installed(Item, version: Int32, changed: TileMask?)
    /// An item is no longer on the device.
    case removed(Item)
    /// Packs of no region, previous versions or part files were removed for the quota.
    case evicted(bytes: UInt64)
    /// A limit was reached.
    case limitReached(Limit)
    /// An installed file was damaged and is not used any more.
    case damaged(Item)
    /// The network was lost; the next such event is ``connectionFound``.
    case connectionLost
    /// The network is back.
    case connectionFound
}
