/// A wrong shell or a wrong worker round the right core; the simulator must find each one out.
enum Mutant: String, CaseIterable {
    /// A commit under an old token is passed on under the current one.
    case noFence
    /// The epoch does not rise at a start, so tokens are granted again.
    case tokenReuse
    /// Messages leave before the transaction is durable.
    case acknowledgesEarly
    /// The scheduler's timer is never rung.
    case noExpiry
    /// A merge is offered to two workers at once.
    case mergesTwice
    /// Blobs are named before they are flushed.
    case publishBeforeSync
    /// A coordinator does not take up what the one before it left half-way.
    case noStart
    /// The blobs of an ended job go although another job names them.
    case releasesTooMuch
    /// A manifest is written without a look at whether the same one of an ended job is being removed.
    case writesWhatIsRemoved
    /// A merger does not verify what it reads.
    case trustsShards
    /// A worker takes tiles of an earlier build without asking the origin.
    case believesBaselines
    /// A package is published although the file of one of its other formats is gone.
    case publishesWithoutFiles
    /// A plan lacks a tile, and the worker that gets it in its part calls it empty.
    case losesPlannedTiles
    /// Every worker is taken for one with all labels.
    case ignoresLabels
}
