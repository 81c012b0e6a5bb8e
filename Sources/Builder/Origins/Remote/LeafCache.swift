import Errors
import PMTiles

/// The leaf directories of a remote archive, each fetched once for all batches of the process, while it is in the
/// cache.
actor LeafCache {
    /// Entries kept at most; one takes 32 bytes.
    private static let maxEntries = 800_000
    /// What a leaf may have, packed and unpacked, in bytes; the leaves of a planet have some 54,000 entries (go-pmtiles#120).
    private static let maxPacked: UInt64 = 1 << 20
    private static let maxUnpacked = 2 << 20
    private let file: RemoteFile
    private let header: PMTilesHeader
    private var known: [UInt64: (directory: PMTilesDirectory, lastUse: Int)] = [:]
    private var entries = 0
    private var uses = 0
    /// Running fetches, by the first byte of each leaf that they fetch.
    private var loading: [UInt64: Task<[UInt64: PMTilesDirectory], any Error>] = [:]

    init(_ file: RemoteFile, _ header: PMTilesHeader) {
        self.file = file
        self.header = header
    }

    /// The directories that the pointers refer to, in their order.
    ///
    /// - Throws: ``OriginsError``.
    func directories(of pointers: [PMTilesDirectory.Entry]) async throws -> [PMTilesDirectory] {
        uses += 1
        let places = try pointers.map { pointer throws(OriginsError) in try place(of: pointer) }
        var found: [UInt64: PMTilesDirectory] = [:]
        var missing: [(pointer: PMTilesDirectory.Entry, place: Range<UInt64>)] = []
        var waiting: [Task<[UInt64: PMTilesDirectory], any Error>] = []
        for (pointer, place) in zip(pointers, places) {
            if let kept = known[place.lowerBound] {
                known[place.lowerBound]?.lastUse = uses
                found[place.lowerBound] = kept.directory
            } else if let task = loading[place.lowerBound] {
                waiting.append(task)
            } else {
                missing.append((pointer, place))
            }
        }
        if !missing.isEmpty {
            let wanted = missing
            // Not a child task of the requesting batch, because other batches wait for it too.
            let task = Task { [file, header] in try await Self.fetch(wanted, from: file, header: header) }
            for (_, place) in missing { loading[place.lowerBound] = task }
            defer { for (_, place) in missing { loading[place.lowerBound] = nil } }
            let fetched = try await task.value
            for (start, directory) in fetched { insert(directory, at: start) }
            found.merge(fetched) { old, _ in old }
        }
        for task in waiting { found.merge(try await task.value) { old, _ in old } }
        return places.compactMap { found[$0.lowerBound] }
    }

    private func place(of pointer: PMTilesDirectory.Entry) throws(OriginsError) -> Range<UInt64> {
        guard pointer.length <= Self.maxPacked else {
            throw OriginsError(.badArchive, "PMTiles file '\(file.name)' has a directory of \(pointer.length) bytes.")
        }
        do throws(ArchiveError) {
            return try header.place(of: pointer, in: file.name)
        } catch {
            throw OriginsError(error)
        }
    }

    private func insert(_ directory: PMTilesDirectory, at start: UInt64) {
        guard known[start] == nil else { return }
        known[start] = (directory, uses)
        entries += directory.entries.count
        while entries > Self.maxEntries, known.count > 1,
            let oldest = known.min(by: { ($0.value.lastUse, $0.key) < ($1.value.lastUse, $1.key) })
        {
            entries -= oldest.value.directory.entries.count
            known[oldest.key] = nil
        }
    }

    private static func fetch(
        _ wanted: [(pointer: PMTilesDirectory.Entry, place: Range<UInt64>)], from file: RemoteFile,
        header: PMTilesHeader
    ) async throws -> [UInt64: PMTilesDirectory] {
        let sorted = wanted.sorted { $0.place.lowerBound < $1.place.lowerBound }
        var found: [UInt64: PMTilesDirectory] = [:]
        // Directories that overlap are damaged; each is then fetched separately and checked by its own bytes.
        let isApart = zip(sorted, sorted.dropFirst()).allSatisfy { $0.place.upperBound <= $1.place.lowerBound }
        let parts =
            isApart
            ? JoinedRanges.parts(
                sorted.map(\.place), overfetch: file.overfetch, most: RemoteFile.maxPerRequest)
            : sorted.indices.map { JoinedRanges.Part(range: sorted[$0].place, pieces: $0..<$0 + 1) }
        let fetched = Fetched()
        try await file.read(parts.map(\.range)) { number, bytes in
            for piece in parts[number].pieces {
                let (pointer, place) = sorted[piece]
                let start = Int(place.lowerBound - parts[number].range.lowerBound)
                let packed = Array(bytes[start..<start + place.count])
                let leaf: PMTilesDirectory
                do throws(ArchiveError) {
                    leaf = try header.directory(packed, at: place.lowerBound, of: file.name, limit: maxUnpacked)
                } catch {
                    // It may have been damaged in transit: another attempt fetches it again.
                    throw OriginsError(.unreadable, error.message, cause: error)
                }
                guard leaf.entries.first?.tile == pointer.tile else {
                    throw OriginsError(
                        .unreadable,
                        "PMTiles file '\(file.name)': the leaf directory of tile \(pointer.tile) does not begin with this tile."
                    )
                }
                await fetched.add(leaf, at: place.lowerBound)
            }
        }
        found = await fetched.directories
        return found
    }

    /// Collects what comes in.
    private actor Fetched {
        private(set) var directories: [UInt64: PMTilesDirectory] = [:]
        func add(_ directory: PMTilesDirectory, at start: UInt64) { directories[start] = directory }
    }
}
