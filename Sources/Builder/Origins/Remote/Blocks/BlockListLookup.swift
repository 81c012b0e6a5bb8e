import Errors
import PMTiles

/// Finds the list of blocks beside an archive, and the blocks of a plan in it.
///
/// A list is optional: whatever is wrong with it is said in one line, and the plan has no blocks.
struct BlockListLookup: Sendable {
    /// What is added to the address of an archive.
    static let ending = ".sync"
    /// A list that is not this many times smaller than the planned bodies costs more than it can save.
    private static let worth: UInt64 = 4
    /// Bytes of a list that are read at once.
    private static let piece: UInt64 = 4 << 20
    /// At most this many blocks are compared with the archive before the list is used; and the share of the planned bytes that they may have.
    private static let (samples, sampledShare): (Int, UInt64) = (4, 64)
    /// How long the list may take: a lease without progress is lost after two minutes, and the list is optional.
    private static let time = Duration.seconds(100)

    let archive: RemotePMTiles
    let plan: RangePlan

    /// The blocks of the planned bodies, and what became of the list in words; no words for a plan without bodies.
    ///
    /// - Parameter progress: Called before and after the list is read.
    /// - Throws: ``OriginsError`` about the archive, `CancellationError`.
    func find(progress: @Sendable () -> Void) async throws -> (blocks: [RangePlan.Block], note: String) {
        let wanted = plan.bodyBytes
        guard wanted > 0 else { return ([], "") }
        let most = wanted / Self.worth
        progress()
        let found: Found
        do {
            guard let read = try await read(atMost: most) else {
                return ([], BlockListNote.notUsed("it did not come within \(Self.time.components.seconds) s"))
            }
            found = read
        } catch let error as OriginsError {
            return ([], BlockListNote.notUsed(error.message))
        }
        progress()
        guard found.bytes <= most else {
            return (
                [],
                BlockListNote.notUsed(
                    "it has \(found.bytes) bytes and the planned tiles have \(wanted): it costs more than it can save")
            )
        }
        if let why = try await difference(of: found.planned, within: wanted) { return ([], BlockListNote.notUsed(why)) }
        progress()
        return (found.planned, BlockListNote.used(found.all, bytes: found.bytes))
    }

    private struct Found: Sendable {
        /// Bytes of the list.
        let bytes: UInt64
        /// The blocks of the planned bodies; none of a list that is too large for them.
        var planned: [RangePlan.Block] = []
        /// How many blocks it has.
        var all: UInt64 = 0
    }

    /// The list, or only its size when it has more bytes than `most`; `nil` when it did not come in time.
    private func read(atMost most: UInt64) async throws -> Found? {
        try await withThrowingTaskGroup(of: Found?.self) { group in
            group.addTask {
                let list = try await archive.file.beside(Self.ending)
                let bytes = list.version.length
                return bytes <= most ? try await blocks(of: list) : Found(bytes: bytes)
            }
            group.addTask {
                try await Task.sleep(for: Self.time)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    private func blocks(of list: RemoteFile) async throws -> Found {
        let length = list.version.length
        let bodies = archive.header.tiles
        var reader = try BlockListReader(fileBytes: length, bodyBytes: bodies.length)
        var planned = PlannedBlocks(plan, in: bodies)
        // The first bytes came with the version.
        var (bytes, position) = (list.head, UInt64(list.head.count))
        while true {
            for block in try reader.take(bytes) { try planned.add(block) }
            guard position < length else { break }
            let end = min(position + Self.piece, length)
            bytes = try await list.read(position..<end)
            position = end
        }
        try reader.finish()
        guard planned.isWhole else { throw BlockListReader.refused("lacks tiles of the archive") }
        return Found(bytes: length, planned: planned.blocks, all: reader.expected ?? 0)
    }

    /// Compares some blocks with the archive, from the first to the last.
    ///
    /// - Parameter wanted: Bytes of the planned bodies.
    /// - Returns: Why the list is not used, or `nil`.
    /// - Throws: ``OriginsError``, `CancellationError`.
    private func difference(of blocks: [RangePlan.Block], within wanted: UInt64) async throws -> String? {
        var left = wanted / Self.sampledShare
        var isCompared = false
        let count = min(Self.samples, blocks.count)
        for number in 0..<count {
            let block = blocks[number * (blocks.count - 1) / max(count - 1, 1)]
            let most = isCompared ? left : max(left, wanted / Self.worth)
            guard block.length <= min(most, RemoteFile.maxPerRequest) else { continue }
            left -= min(block.length, left)
            isCompared = true
            guard XXH64.hash(try await archive.file.read(block.place)) == block.hash else {
                return BlockListNote.otherBytes
            }
        }
        return isCompared ? nil : "its blocks are too large for the planned tiles"
    }
}

extension RangePlan {
    /// Bytes of the bodies, each counted once.
    fileprivate var bodyBytes: UInt64 {
        var (bytes, last): (UInt64, Range<UInt64>?) = (0, nil)
        for run in runs {
            guard let place = run.place, place != last else { continue }
            bytes += UInt64(place.count)
            last = place
        }
        return bytes
    }

    /// The same plan with blocks.
    func with(_ blocks: [Block]) -> RangePlan {
        RangePlan(archive: archive, runs: runs, requests: requests, blocks: blocks)
    }
}
