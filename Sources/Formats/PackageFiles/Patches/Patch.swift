internal import Digests
internal import Files
public import Foundation
internal import TileBodies

/// The difference between two versions of a package: of MBTiles files an MBTiles diff file that other tools can also apply, of PMTiles
/// archives a copy script (docs/formats/pmtiles-patch.md), of files of any kind a copy script with packed literals
/// (docs/formats/companion-patch.md).
///
/// docs/formats/patch.md describes the diff file and how to apply it with SQLite alone. A patch is no ``TileArchive``: a row
/// without a body removes a tile, and a delta is no body, so a program that read it as a map would show holes. The packages on both
/// sides are read as archives.
public enum Patch {
    /// Reports what a patch would contain; writes nothing.
    ///
    /// - Parameters:
    ///   - old: An MBTiles file of any dialect, or a PMTiles archive.
    ///   - new: Another one.
    ///   - progress: Called regularly with the number of places compared. Throw from it (`CancellationError`) to stop.
    /// - Throws: `bad-source` for a file that is damaged or is itself a patch; `io`.
    public static func compare(
        old: URL, new: URL, progress: (UInt64) throws -> Void = { _ in }
    ) throws -> PatchCounts {
        if try PMTilesPatch.isMeant(old: old, new: new) {
            return try PMTilesPatch.compare(old: old, new: new, progress: progress)
        }
        return try PackageFile.read(old) { old in
            try PackageFile.read(new) { new in
                try compare(old, with: new, metadata: try packageMetadata(new), progress: progress) { _, _ in }
            }
        }
    }

    /// Writes, flushes and verifies the patch that turns `old` into `new`; the file gets its name only after that.
    ///
    /// The bytes are a function of the two files' tiles and of the new one's metadata; of PMTiles archives, of their bytes. Memory: about
    /// 40 MB. Blocks for a long
    /// time: call it on a thread of its own.
    ///
    /// - Parameters:
    ///   - old: An MBTiles file of any dialect, or a PMTiles archive.
    ///   - new: Another one of the same format.
    ///   - target: The file to make.
    ///   - deltas: Whether changed tiles are stored as deltas where that is smaller. Only Packhorse can apply such a
    ///     patch, and only with a zlib and libdeflate that compress like those of this machine; others refuse it.
    ///   - replacing: Whether a file of that name may be replaced.
    ///   - progress: Called regularly with the number of places compared. Throw from it (`CancellationError`) to stop.
    /// - Throws: `bad-source` for a file that is damaged or is itself a patch; `exists`, `disk-full`, `io`,
    ///   `verification-failed`.
    @discardableResult
    public static func make(
        old: URL, new: URL, into target: URL, deltas: Bool = false, replacing: Bool = false,
        progress: (UInt64) throws -> Void = { _ in }
    ) throws -> PatchReceipt {
        if try PMTilesPatch.isMeant(old: old, new: new) {
            guard !deltas else {
                throw PackagesError(.unsupported, "Patches of PMTiles archives have no binary differences of tiles.")
            }
            return try PMTilesPatch.make(old: old, new: new, into: target, replacing: replacing, progress: progress)
        }
        return try TemporaryFile.write(target, replacing: replacing) { temporary in
            let counts = try PackageFile.read(old) { old in
                try PackageFile.read(new) { new in
                    let metadata = try packageMetadata(new)
                    return try PatchBuilder.write(temporary, deltas: deltas) { builder in
                        var own = TilesHash()
                        var delta = BodyDelta()
                        var deltaCount: UInt64 = 0
                        var counts = try compare(old, with: new, metadata: metadata, progress: progress) {
                            before, row in
                            var row = row
                            if deltas, let before = before?.body, let body = row.body,
                                let smaller = delta.make(from: before, to: body)
                            {
                                row = TileRow(
                                    zoom: row.zoom, column: row.column, row: row.row, body: smaller, isDelta: true)
                                deltaCount += 1
                            } else {
                                own.add(row)
                            }
                            try builder.add(row)
                        }
                        counts.deltas = deltaCount
                        var rows = metadata
                        rows[PatchSchema.before] = counts.before
                        rows[PatchSchema.after] = counts.after
                        rows[PatchSchema.own] = own.finish()
                        try builder.add(metadata: rows)
                        return counts
                    }
                }
            }
            try Durable.sync(file: temporary)
            let applied = try PackageFile.read(old) { old in
                try PackageFile.read(temporary) { try PatchRun.survey(old, $0) { try progress(0) } }
            }
            guard applied.before == counts.before, applied.after == counts.after else {
                throw PackagesError(
                    .verificationFailed, "Patch '\(target.path)' does not turn '\(old.path)' into '\(new.path)'.")
            }
            let (digest, size) = try Digest.ofFile(temporary)
            return PatchReceipt(counts: counts, digest: digest, size: size, isExact: false)
        }
    }

    /// Walks both files and reports the differences: bodies of the new file or NULL.
    private static func compare(
        _ old: PackageFile, with new: PackageFile, metadata: [String: String], progress: (UInt64) throws -> Void,
        _ change: (_ before: TileRow?, _ after: TileRow) throws -> Void
    ) throws -> PatchCounts {
        var counts = PatchCounts()
        var hashes = (old: TilesHash(), new: TilesHash())
        var join = try TileJoin(try old.tiles(), try new.tiles())
        var places: UInt64 = 0
        while let (left, right) = try join.next() {
            if let left { hashes.old.add(left) }
            if let right { hashes.new.add(right) }
            switch (left, right) {
            case (let left?, let right?) where left.body == right.body: counts.unchanged += 1
            case (let left, let right?):
                if left == nil { counts.added += 1 } else { counts.changed += 1 }
                counts.bodyBytes += UInt64(right.body?.count ?? 0)
                try change(left, right)
            case (let left?, nil):
                counts.removed += 1
                try change(left, TileRow(zoom: left.zoom, column: left.column, row: left.row, body: nil))
            case (nil, nil): break
            }
            places += 1
            if places % 1_024 == 0 { try progress(places) }
        }
        counts.before = hashes.old.finish()
        counts.after = hashes.new.finish()
        try confirm(old, metadata: try packageMetadata(old), hash: counts.before)
        try confirm(new, metadata: metadata, hash: counts.after)
        try progress(places)
        return counts
    }

    /// The metadata of a file that is a package and not a patch.
    private static func packageMetadata(_ file: PackageFile) throws -> [String: String] {
        let metadata = try file.metadata()
        guard metadata[PatchSchema.before] == nil, metadata[PatchSchema.after] == nil else {
            throw PackagesError(.badSource, "'\(file.path)' is itself a patch; a patch is made from two packages.")
        }
        return metadata
    }

    /// Refuses a file whose tiles do not match its own hash.
    private static func confirm(_ file: PackageFile, metadata: [String: String], hash: String) throws {
        guard let stated = metadata[PatchSchema.own], stated.uppercased() != hash else { return }
        throw PackagesError(
            .badSource,
            "'\(file.path)' is damaged: its tiles hash to \(hash), its metadata says \(stated.prefix(64)). Fetch it again."
        )
    }
}
