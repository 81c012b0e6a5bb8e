public import Digests
public import Tiles

/// What a worker does with a batch.
public enum BatchRole: Hashable, Sendable {
    /// It fetches the tiles of the job's mask in the batch's cell and zooms.
    case cell
    /// It plans the ranges of these tiles in an archive on a web server, and fetches none of them.
    ///
    /// When its plan is accepted, the batch is ``BatchState/split`` into parts of the plan, and keeps the plan's digest.
    case plan
    /// It fetches tiles of the plan that another batch of the job made: its `tiles` from position `first` on.
    ///
    /// All of them are in the batch's cell and zooms; other tiles can be there too.
    case part(of: BatchIndex, first: UInt32)

    /// One number for the store and the event log; 0 = ``cell``.
    public var code: UInt64 {
        switch self {
        case .cell: 0
        case .plan: 1
        case .part(let plan, let first): UInt64(UInt32(clamping: plan.number) &+ 1) << 32 | UInt64(first)
        }
    }

    /// Reads a code; `nil` when no role has it.
    public init?(code: UInt64) {
        switch code {
        case 0: self = .cell
        case 1: self = .plan
        case (1 << 32)...UInt64(Int64.max):
            self = .part(of: BatchIndex(Int(code >> 32) - 1), first: UInt32(truncatingIfNeeded: code))
        default: return nil
        }
    }
}

/// What the scheduler knows of a plan: where a worker finds it, and from what it can be made once more.
public struct OfferedPlan: Hashable, Sendable {
    /// The blob of the plan.
    public let digest: Digest
    /// The cell of the batch that was planned.
    public let cell: TileID
    /// Its zooms.
    public let zooms: ZoomRange
    /// Its number of tiles.
    public let tiles: UInt64
    /// The position of the offered batch's first tile.
    public let first: UInt32
}

extension Batch {
    /// The positions of a part of a plan; `nil` for other batches.
    var plannedPart: Range<UInt64>? {
        guard case .part(_, let first) = role else { return nil }
        return UInt64(first)..<UInt64(first) + tiles
    }
}
