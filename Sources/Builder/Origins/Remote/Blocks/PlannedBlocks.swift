import Errors
import PMTiles

/// The blocks that have the bodies of a plan, chosen while a list is read.
struct PlannedBlocks: Sendable {
    private let runs: [RangePlan.Run]
    /// The first byte of all bodies in the file.
    private let begin: UInt64
    private var next = 0
    /// Those that were found, ascending.
    private(set) var blocks: [RangePlan.Block] = []

    /// - Parameters:
    ///   - plan: Without blocks.
    ///   - bodies: Where the archive's header says that all bodies are.
    init(_ plan: RangePlan, in bodies: PMTilesHeader.Section) {
        runs = Array(plan.runs.prefix { $0.length > 0 })
        begin = bodies.offset
    }

    /// Adds the next block of the list, if it has planned bodies.
    ///
    /// - Throws: ``OriginsError`` `.badArchive` when the archive's directories place a body across the end of a block, or say another first tile:
    ///   the list is of another build.
    mutating func add(_ block: BlockListReader.Block) throws(OriginsError) {
        let found = RangePlan.Block(offset: begin + block.offset, length: block.length, hash: block.hash)
        let first = next
        while next < runs.count, runs[next].offset < found.place.upperBound {
            let run = runs[next]
            guard run.offset >= found.offset, run.offset + UInt64(run.length) <= found.place.upperBound,
                run.tile >= block.tile
            else {
                throw BlockListReader.refused(
                    "does not fit the directories of the archive at tile \(run.tile): it is of another build")
            }
            next += 1
        }
        if next > first { blocks.append(found) }
    }

    /// Whether every planned body is in a block.
    var isWhole: Bool { next == runs.count }
}
