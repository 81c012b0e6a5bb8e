/// What the shell does for the machine.
///
/// Except for `stop` and `alarm`, no effect is emitted before the write that records its reason is acknowledged.
enum Effect: Sendable {
    /// One transaction. When it fails, the shell opens the store again with a new machine, as after a crash.
    case write(WriteID, [Change])
    case answer(RequestID, Answer)
    case plan(OpID, TaskRecord)
    case list(OpID)
    /// Downloads into the part file `digest`, from an offset.
    case fetch(OpID, DownloadItem, digest: String, from: UInt64, bytesPerSecond: UInt64?)
    case verify(OpID, DownloadItem)
    /// Checks the patch's part file and makes the part file of the download from it and the installed file.
    case patch(OpID, DownloadItem)
    /// Moves the part file, or the pack that was filled, to its place.
    case prepare(OpID, DownloadItem)
    /// Afterwards the operation changes nothing any more. What it did before stays.
    case stop(OpID)
    /// `path`: of an installed file, below the folder of the store.
    case discard(Trash, path: String? = nil)
    /// Readers get the rows of the last write.
    case showReaders
    /// The answer is the event `disk`.
    case measureDisk
    case report(StoreEvent)
    /// The event `alarm` is to come at this time; it replaces the alarm before.
    case alarm(Instant)
    /// The machine is idle: the lock can be released.
    case quiet

    /// The operation that the effect begins.
    var begins: OpID? {
        switch self {
        case .plan(let op, _), .list(let op), .fetch(let op, _, digest: _, from: _, bytesPerSecond: _),
            .verify(let op, _), .patch(let op, _), .prepare(let op, _):
            op
        default: nil
        }
    }
}
