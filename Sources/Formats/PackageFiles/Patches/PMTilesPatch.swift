internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import PMTiles

/// Makes the patch between two PMTiles archives: a ``CopyPatch`` whose copies are found by the directories.
struct PMTilesPatch {
    private let files: (old: FileDescriptor, new: FileDescriptor)
    private let archives: (old: PMTilesFile, new: PMTilesFile)
    private var writer: CopyPatchWriter
    private var counts = PatchCounts()

    /// Whether both files are PMTiles archives; one alone is refused.
    ///
    /// - Throws: `bad-source`; `io`.
    static func isMeant(old: URL, new: URL) throws -> Bool {
        let kinds = (try ArchiveKind.of(old), try ArchiveKind.of(new))
        guard kinds.0 == .pmtiles || kinds.1 == .pmtiles else { return false }
        guard kinds.0 == kinds.1 else {
            throw PackagesError(
                .badSource,
                "'\(old.path)' is \(kinds.0.words) and '\(new.path)' is \(kinds.1.words): a patch is between files of one format."
            )
        }
        return true
    }

    /// Counts the differences.
    static func compare(old: URL, new: URL, progress: (UInt64) throws -> Void) throws -> PatchCounts {
        do {
            var patch = try PMTilesPatch(old, new, near: TemporaryName.forUse(as: "diff"))
            try patch.collect(progress)
            return try patch.counts(old, new)
        } catch { throw PackagesError.wrapping(error, path: new.path) }
    }

    /// Writes a patch, applies it without writing the result, and compares the SHA-256.
    static func make(
        old: URL, new: URL, into target: URL, replacing: Bool, progress: (UInt64) throws -> Void
    ) throws -> PatchReceipt {
        try TemporaryFile.write(target, replacing: replacing) { temporary in
            var patch = try PMTilesPatch(old, new, near: temporary)
            try patch.collect(progress)
            try patch.writer.finish(temporary)
            return try CopyPatch.proven(
                temporary, on: patch.files.old, patch.counts, from: old, to: new, named: target)
        }
    }

    private init(_ old: URL, _ new: URL, near place: URL) throws {
        files = (try FileDescriptor(reading: old), try FileDescriptor(reading: new))
        archives = (try PMTilesFile(path: old.path), try PMTilesFile(path: new.path))
        writer = CopyPatchWriter(old: files.old, new: files.new, near: place)
    }

    private func counts(_ old: URL, _ new: URL) throws -> PatchCounts {
        var counts = counts
        (counts.before, counts.after) = (try Digest.ofFile(old).digest.hex, try Digest.ofFile(new).digest.hex)
        return counts
    }

    /// Goes through the new file from its first to its last byte, section by section.
    private mutating func collect(_ progress: (UInt64) throws -> Void) throws {
        let (old, new) = (archives.old.header, archives.new.header)
        let head = PMTilesHeader.Section(offset: 0, length: UInt64(PMTilesHeader.size))
        let sections = [
            (head, head), (new.root, old.root), (new.metadata, old.metadata), (new.leaves, old.leaves),
            (new.tiles, old.tiles),
        ].filter { $0.0.length > 0 }.sorted { ($0.0.offset, $0.0.length) < ($1.0.offset, $1.0.length) }
        var (oldEnd, hasTiles) = (UInt64(0), false)
        for (section, before) in sections {
            // What lies between two sections is compared from its end on: it is mostly zeros.
            try between(section.offset, before.offset, from: oldEnd)
            if section == new.tiles, !hasTiles {
                hasTiles = true
                try bodies(progress)
            } else {
                try writer.copyEqual(section.offset..<section.end, asFrom: before.offset)
            }
            oldEnd = before.end
        }
        // Without a body, only tiles that are gone are counted.
        if !hasTiles { try bodies(progress) }
        try between(files.new.size, files.old.size, from: oldEnd)
    }

    /// Compares the bytes between two sections, aligned at their ends.
    private mutating func between(_ end: UInt64, _ oldEnd: UInt64, from start: UInt64) throws {
        guard end > writer.end, oldEnd > start else { return }
        let count = min(end - writer.end, oldEnd - start)
        try writer.copyEqual(end - count..<end, asFrom: oldEnd - count)
    }

    /// Copies the bodies of the new archive that the old one has for the same tile.
    private mutating func bodies(_ progress: (UInt64) throws -> Void) throws {
        var difference = PMTilesDifference(archives.old, archives.new)
        let (old, new) = (archives.old.header.tiles.offset, archives.new.header.tiles.offset)
        let before = writer.copied
        var (places, steps): (UInt64, UInt64) = (0, 0)
        while let found = try difference.next({ [writer] in try writer.isEqual(new + $1, old + $0, count: $2) }) {
            switch (found.old, found.new) {
            case (let left?, let right?) where found.isEqual:
                counts.unchanged += found.count
                try writer.copy(new + right.offset, from: old + left.offset, count: right.length)
            case (_?, _?): counts.changed += found.count
            case (nil, _): counts.added += found.count
            case (_, nil): counts.removed += found.count
            }
            places += found.count
            steps += 1
            if steps % 1_024 == 0 { try progress(places) }
        }
        counts.bodyBytes = archives.new.header.tiles.length - (writer.copied - before)
        try progress(places)
    }
}
