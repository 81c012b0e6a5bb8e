internal import Digests
internal import Errors
internal import Files
public import Foundation

/// Lists the backups of a place and restores them.
public struct BackupReader: Sendable {
    private let place: any BackupPlace

    /// A reader of a place; it changes nothing there.
    public init(_ place: any BackupPlace) { self.place = place }

    /// The names of all backups, the oldest first.
    public func names() async throws -> [BackupName] {
        try await place.names(of: .index).compactMap { BackupName($0) }.sorted()
    }

    /// The newest backup, or the newest of those that were made at a time or before it.
    ///
    /// - Parameter time: Seconds since 1970; `nil` = no limit.
    /// - Throws: ``BackupError`` `no-backup` with the time of the oldest one.
    public func newest(at time: Int64? = nil) async throws -> BackupName {
        let names = try await names()
        if let found = names.last(where: { name in time.map { name.seconds <= $0 } ?? true }) { return found }
        guard let oldest = names.map(\.seconds).min() else {
            throw BackupError(
                .noBackup, "There is no backup in '\(place.name)'.",
                hint: "packhorse coordinator --backup-to makes them")
        }
        throw BackupError(
            .noBackup, "No backup in '\(place.name)' is as old as that: the oldest is of \(Self.time(oldest)).",
            hint: "packhorse state backups lists them")
    }

    /// The index of a backup.
    ///
    /// - Throws: ``BackupError``; what the place throws.
    public func index(_ name: BackupName) async throws -> BackupIndex {
        guard let bytes = try await place.read(name.description, .index) else { throw gone("the backup '\(name)'") }
        let index = try BackupIndex(decoding: bytes)
        guard index.name == name else {
            throw BackupError(.damaged, "The index '\(name)' in '\(place.name)' is that of the backup '\(index.name)'.")
        }
        return index
    }

    /// Bytes and segments of each backup that can be read; the oldest first.
    public func indexes() async throws -> [BackupIndex] {
        var found: [BackupIndex] = []
        for name in try await names() {
            // What is damaged is no backup; the others are listed.
            if let index = try? await index(name) { found.append(index) }
        }
        return found
    }

    /// The highest epoch that a backup or a coordinator of the place has; 0 = none.
    public func highestEpoch() async throws -> UInt32 {
        let claims = try await place.names(of: .claims).compactMap { PlaceClaim($0)?.epoch }
        return max(try await names().map(\.epoch).max() ?? 0, claims.max() ?? 0)
    }

    /// Writes the state file of a backup and flushes it; every page is checked.
    ///
    /// - Parameter file: A new file. It may be left unfinished when this throws.
    /// - Throws: ``BackupError``; `StorageError`; what the place throws.
    public func restore(_ index: BackupIndex, to file: URL) async throws {
        // Each page is in a segment.
        guard index.bytes <= index.segments.reduce(0, { $0 + UInt64($1.size) }) else {
            throw damaged("its segments are too short for its pages")
        }
        let target = try FileDescriptor(creating: file)
        var written = [Bool](repeating: false, count: Int(index.pageCount))
        for wanted in index.segments {
            guard let bytes = try await place.read(wanted.name, .segments) else {
                throw gone("the segment '\(wanted.name)'")
            }
            guard Digest(of: bytes) == wanted.digest else {
                throw damaged("the segment '\(wanted.name)' has other bytes")
            }
            let segment = try PageSegment(decoding: bytes)
            guard segment.pageSize == index.pageSize else {
                throw damaged("the segment '\(wanted.name)' has pages of another size")
            }
            for (place, number) in segment.numbers.enumerated() where number <= index.pageCount {
                try target.write(Array(segment.page(place)), at: UInt64(number - 1) * UInt64(index.pageSize))
                written[Int(number - 1)] = true
            }
        }
        guard !written.contains(false) else { throw damaged("a page is missing") }
        try target.sync()
        try target.close()
        let whole = try await FileWork.run {
            let scan = try PageScan(file)
            var digests: [Digest] = []
            while digests.count < scan.pageCount { digests += try scan.next(after: digests.count, known: []).digests }
            return PageScan.whole(digests)
        }
        guard whole == index.digest else { throw damaged("its pages are not those that were backed up") }
    }

    private func damaged(_ why: String) -> BackupError {
        BackupError(
            .damaged, "The backup in '\(place.name)' is damaged: \(why).",
            hint: "restore an older one: packhorse state backups lists them")
    }

    private func gone(_ what: String) -> BackupError {
        BackupError(
            .incomplete, "In '\(place.name)' \(what) is missing; a coordinator may have removed it now.",
            hint: "try again")
    }

    /// A time for people and for `--at`: `2026-11-28T19:15:00Z`.
    public static func time(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).ISO8601Format()
    }
}
