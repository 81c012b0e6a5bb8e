/// How many of a kind of thing a task has.
public struct Counts: Hashable, Codable, Sendable {
    /// How many the task needs in all.
    public var required: UInt64
    /// How many are there; never falls and never exceeds ``required``.
    public var completed: UInt64
    /// The bytes of those that are there.
    public var bytes: UInt64
    /// How many failed for good.
    public var failed: UInt64

    /// Makes counts.
    public init(required: UInt64 = 0, completed: UInt64 = 0, bytes: UInt64 = 0, failed: UInt64 = 0) {
        self.required = required
        self.completed = completed
        self.bytes = bytes
        self.failed = failed
    }

    /// Adds what is needed and there.
    mutating func add(_ count: UInt64, bytes more: UInt64) {
        required += count
        completed += count
        bytes += more
    }
}

/// How far a task is.
public struct TaskProgress: Hashable, Codable, Sendable {
    /// Styles, sprites, glyph ranges, source descriptions and package files.
    public var resources = Counts()
    /// Single tiles.
    public var tiles = Counts()
    /// Tile packs.
    public var packs = Counts()
    /// The bytes that came over the network, with those that were downloaded twice.
    public var transferred: UInt64 = 0
    /// The part that is done, 0...1; never falls.
    public var fraction = 0.0
    /// Whether the numbers of required things are exact and not lower bounds.
    public var isPrecise = true

    /// Makes a progress of nothing.
    public init() {}
}

/// What a download will take.
public struct Estimate: Hashable, Encodable, Sendable {
    /// Bytes over the network.
    public var transfer: UInt64
    /// Bytes on disk at the end.
    public var storage: UInt64
    /// The most bytes on disk on the way, with the old files.
    public var peak: UInt64
    /// The part by which ``transfer`` may be wrong; 0 is exact.
    public var margin: Double
    /// Single tiles.
    public var tiles: UInt64
    /// Tile packs.
    public var packs: Int
    /// Whether quota and disk have the space.
    public var fits: Bool

    /// Makes an estimate of its parts.
    public init(
        transfer: UInt64, storage: UInt64, peak: UInt64, margin: Double, tiles: UInt64, packs: Int, fits: Bool
    ) {
        self.transfer = transfer
        self.storage = storage
        self.peak = peak
        self.margin = margin
        self.tiles = tiles
        self.packs = packs
        self.fits = fits
    }
}
