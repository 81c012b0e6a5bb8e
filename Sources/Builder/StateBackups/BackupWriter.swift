internal import Digests
internal import Files
public import Foundation

/// Writes backups of one run into a place: of each copy of the state file the pages that changed since the backup before.
///
/// The first backup of a run has all pages, and so has one from time to time, so that restoring reads at most about twice the size of the state.
public actor BackupWriter {
    private let place: any BackupPlace
    private let claim: PlaceClaim
    private var number: UInt32 = 0
    /// What is in the place; empty before the first backup.
    private var pages: [Digest] = []
    private var segments: [BackupIndex.Segment] = []
    private var baseSegments = 0
    private var basePages = 0
    private var deltaPages = 0
    private var kept = KeptBackups()
    private var hasLoaded = false

    /// Segments with changes, after which a backup has all pages again.
    private static let mostDeltas = 240

    /// A writer for one run.
    public init(_ place: any BackupPlace, claim: PlaceClaim) {
        self.place = place
        self.claim = claim
    }

    /// Makes a backup of a copy of the state file.
    ///
    /// An attempt that fails leaves segments that no index names; a later call of ``thin(now:)`` removes them.
    ///
    /// - Parameters:
    ///   - copy: A SQLite database without a journal; nothing changes it.
    ///   - now: When the copy was finished, in seconds since 1970.
    /// - Returns: The bytes that were written.
    /// - Throws: ``BackupError`` `damaged-backup` when the file is no database; what the place throws.
    @discardableResult
    public func write(_ copy: URL, now: Int64) async throws -> UInt64 {
        let scan = try PageScan(copy)
        let isBase =
            segments.isEmpty || segments.count - baseSegments > Self.mostDeltas || deltaPages > max(basePages, 1_024)
        var added = isBase ? [] : segments
        var digests: [Digest] = []
        digests.reserveCapacity(Int(scan.pageCount))
        var (bytes, changed) = (UInt64(0), 0)
        while digests.count < scan.pageCount {
            try Task.checkCancellation()
            let known = isBase ? [] : pages
            let (found, segment) = try await FileWork.run { [digests] in
                try scan.next(after: digests.count, known: known)
            }
            digests += found
            guard let segment else { continue }
            let encoded = segment.encoded()
            let object = BackupIndex.Segment(
                epoch: claim.epoch, digest: Digest(of: encoded), size: UInt32(encoded.count))
            try await place.write(encoded, to: object.name, of: .segments)
            bytes += UInt64(encoded.count)
            changed += segment.numbers.count
            added.append(object)
        }
        let index = BackupIndex(
            lineage: claim.lineage, name: BackupName(epoch: claim.epoch, number: number + 1, seconds: now),
            pageSize: scan.pageSize,
            pageCount: scan.pageCount, digest: PageScan.whole(digests), segments: added)
        let encoded = index.encoded()
        do {
            try await place.write(encoded, to: index.name.description, of: .index)
        } catch {
            // It may be in the place all the same, when only the answer was lost.
            hasLoaded = false
            throw error
        }
        number += 1
        pages = digests
        segments = added
        if isBase { baseSegments = added.count }
        (basePages, deltaPages) = isBase ? (digests.count, 0) : (basePages, deltaPages + changed)
        kept.add(index)
        return bytes + UInt64(encoded.count)
    }

    /// Removes backups that are thinned out, and what no backup needs.
    ///
    /// - Parameter now: Seconds since 1970.
    /// - Returns: `false` when segments of the newest backup are no longer in the place: the next backup has all pages then.
    @discardableResult
    public func thin(now: Int64) async throws -> Bool {
        try await place.removeUnfinished()
        if !hasLoaded {
            kept.add(try await KeptBackups.load(place))
            hasLoaded = true
        }
        for name in BackupThinning.surplus(kept.names, now: now) {
            try await place.remove(name.description, .index)
            kept.remove(name)
        }
        let present = try await place.names(of: .segments)
        let isComplete = Set(present).isSuperset(of: segments.map(\.name))
        if !isComplete { segments = [] }
        guard let needed = kept.segments else { return isComplete }
        // Those of a higher epoch belong to a coordinator that has replaced this one.
        for name in present where !needed.contains(name) {
            guard let epoch = BackupIndex.Segment.epoch(in: name), epoch <= claim.epoch else { continue }
            try await place.remove(name, .segments)
        }
        return isComplete
    }
}

/// The backups of a place and the segments that they need, so that each index is read once.
private struct KeptBackups {
    /// The segments of a backup; `nil` = its index cannot be read.
    private var backups: [BackupName: Set<String>?] = [:]

    var names: [BackupName] { Array(backups.keys) }

    /// Every segment that is needed; `nil` when an index cannot be read.
    var segments: Set<String>? {
        var all: Set<String> = []
        for needed in backups.values {
            guard let needed else { return nil }
            all.formUnion(needed)
        }
        return all
    }

    mutating func add(_ index: BackupIndex) { backups[index.name] = .some(Set(index.segments.map(\.name))) }

    mutating func remove(_ name: BackupName) { backups.removeValue(forKey: name) }

    /// Adds what is not known yet.
    mutating func add(_ other: KeptBackups) { backups.merge(other.backups) { own, _ in own } }

    /// Reads what is in a place.
    static func load(_ place: any BackupPlace) async throws -> KeptBackups {
        var found = KeptBackups()
        for text in try await place.names(of: .index) {
            guard let name = BackupName(text), let bytes = try await place.read(text, .index) else { continue }
            // A damaged index, or one of a newer build, may need any segment.
            let index = try? BackupIndex(decoding: bytes)
            found.backups[name] = .some(index.map { Set($0.segments.map(\.name)) })
        }
        return found
    }
}
