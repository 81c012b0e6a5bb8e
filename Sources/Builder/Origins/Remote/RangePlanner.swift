import Errors
import PMTiles
import Synchronization
import Tiles

/// Reads the directories of a remote archive once for many tiles, and plans the ranges of their bodies.
struct RangePlanner: Sendable {
    /// What a leaf may have, packed and unpacked, in bytes.
    private static let maxPacked: UInt64 = 1 << 20
    private static let maxUnpacked = 2 << 20

    private let archive: RemotePMTiles
    /// Bodies above it are left out of packages.
    private let limit: UInt64
    /// Ascending.
    private let ids: [UInt64]

    /// A part of a directory that has a leaf of its own.
    private struct Pointer: Sendable {
        let entry: PMTilesDirectory.Entry
        let place: Range<UInt64>
        /// Which of the tiles are below it.
        let ids: Range<Int>
    }

    private struct State {
        var runs: [RangePlan.Run] = []
        var pointers: [Pointer] = []
    }

    init(_ archive: RemotePMTiles, _ tiles: any Sequence<TileID> & Sendable, limit: UInt64) {
        (self.archive, self.limit) = (archive, limit)
        ids = tiles.map(\.hilbertID).sorted()
    }

    /// Plans.
    ///
    /// - Throws: ``OriginsError``, `CancellationError`.
    func plan(progress: @Sendable () -> Void) async throws -> RangePlan {
        let state = Mutex(State())
        try state.withLock { try collect(0..<ids.count, in: archive.root, into: &$0) }
        for _ in 1..<PMTilesHeader.maxDepth {
            let pointers = state.withLock { state in
                defer { state.pointers = [] }
                return state.pointers
            }
            guard !pointers.isEmpty else { break }
            try await read(pointers) { pointer, leaf in
                try state.withLock { try collect(pointer.ids, in: leaf, into: &$0) }
                progress()
            }
        }
        guard state.withLock({ $0.pointers.isEmpty }) else {
            throw OriginsError(
                .badArchive,
                "PMTiles file '\(archive.file.name)' nests its directories deeper than \(PMTilesHeader.maxDepth).")
        }
        return plan(state.withLock { $0.runs })
    }

    /// The plan of tiles with their places, in any order.
    private func plan(_ found: [RangePlan.Run]) -> RangePlan {
        let runs = Self.joined(found)
        var places: [Range<UInt64>] = []
        for run in runs where UInt64(run.length) <= limit {
            guard let place = run.place, place != places.last else { continue }
            places.append(place)
        }
        // Bodies that overlap without being equal occur only in damaged archives; they are requested one by one.
        let isApart = zip(places, places.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound }
        let file = archive.file
        let requests =
            isApart ? JoinedRanges.parts(places, overfetch: file.overfetch, most: file.maxPerPart).map(\.range) : []
        return RangePlan(archive: file.planned, runs: runs, requests: requests)
    }

    /// Sorts runs by place, those without a body last, and joins what follows one another.
    private static func joined(_ runs: [RangePlan.Run]) -> [RangePlan.Run] {
        func key(_ run: RangePlan.Run) -> (Int, UInt64, UInt32, UInt64) {
            (run.length == 0 ? 1 : 0, run.offset, run.length, run.tile)
        }
        var joined: [RangePlan.Run] = []
        for run in runs.sorted(by: { key($0) < key($1) }) {
            if let last = joined.last, last.offset == run.offset, last.length == run.length,
                last.tile + UInt64(last.count) == run.tile, !Self.beginsZoom(run.tile)
            {
                joined[joined.count - 1].count += run.count
            } else {
                joined.append(run)
            }
        }
        return joined
    }

    /// Whether it is the first id of its zoom.
    private static func beginsZoom(_ id: UInt64) -> Bool {
        TileID(hilbertID: id).map { $0.x == 0 && $0.y == 0 } ?? true
    }

    /// Adds the places of tiles, and the leaves that have those of others.
    private func collect(_ range: Range<Int>, in directory: PMTilesDirectory, into state: inout State) throws {
        for index in range {
            let id = ids[index]
            guard let entry = directory.entry(for: id) else {
                Self.add(RangePlan.Run(tile: id, count: 1, length: 0, offset: 0), to: &state.runs)
                continue
            }
            if entry.run == 0, let last = state.pointers.last, last.entry == entry, last.ids.upperBound == index {
                state.pointers[state.pointers.count - 1] = Pointer(
                    entry: entry, place: last.place, ids: last.ids.lowerBound..<index + 1)
                continue
            }
            let place: Range<UInt64>
            do throws(ArchiveError) { place = try archive.header.place(of: entry, in: archive.file.name) } catch {
                throw OriginsError(error)
            }
            guard entry.run == 0 else {
                let length = UInt32(clamping: place.count)
                Self.add(
                    RangePlan.Run(tile: id, count: 1, length: length, offset: place.lowerBound), to: &state.runs)
                continue
            }
            guard entry.length <= Self.maxPacked else {
                throw OriginsError(
                    .badArchive, "PMTiles file '\(archive.file.name)' has a directory of \(entry.length) bytes.")
            }
            state.pointers.append(Pointer(entry: entry, place: place, ids: index..<index + 1))
        }
    }

    /// Adds a tile to the last run, if it continues it.
    private static func add(_ run: RangePlan.Run, to runs: inout [RangePlan.Run]) {
        if let last = runs.last, last.offset == run.offset, last.length == run.length,
            last.tile + UInt64(last.count) == run.tile, !beginsZoom(run.tile)
        {
            runs[runs.count - 1].count += 1
        } else {
            runs.append(run)
        }
    }

    /// Reads leaves in few requests, and passes each on.
    private func read(
        _ pointers: [Pointer], each: @Sendable (Pointer, PMTilesDirectory) throws -> Void
    ) async throws {
        let sorted = pointers.sorted { $0.place.lowerBound < $1.place.lowerBound }
        let file = archive.file
        // Directories that overlap are damaged; each is then fetched by itself.
        let isApart = zip(sorted, sorted.dropFirst()).allSatisfy { $0.place.upperBound <= $1.place.lowerBound }
        let parts =
            isApart
            ? JoinedRanges.parts(sorted.map(\.place), overfetch: file.overfetch, most: RemoteFile.maxPerRequest)
            : sorted.indices.map { JoinedRanges.Part(range: sorted[$0].place, pieces: $0..<$0 + 1) }
        try await file.read(parts.map(\.range)) { [archive] number, bytes in
            for piece in parts[number].pieces {
                let pointer = sorted[piece]
                let start = Int(pointer.place.lowerBound - parts[number].range.lowerBound)
                let packed = Array(bytes[start..<start + pointer.place.count])
                let leaf: PMTilesDirectory
                do throws(ArchiveError) {
                    leaf = try archive.header.directory(
                        packed, at: pointer.place.lowerBound, of: file.name, limit: Self.maxUnpacked)
                } catch {
                    // It may have been damaged in transit: another attempt fetches it again.
                    throw OriginsError(.unreadable, error.message, cause: error)
                }
                guard leaf.entries.first?.tile == pointer.entry.tile else {
                    throw OriginsError(
                        .unreadable,
                        "PMTiles file '\(file.name)': the leaf directory of tile \(pointer.entry.tile) does not begin with this tile."
                    )
                }
                try each(pointer, leaf)
            }
        }
    }
}
