internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import TileBodies

/// The rows a package has once a patch is applied, made one at a time from the old file and the patch.
struct PatchRun {
    private var join: TileJoin
    private let patch: PackageFile
    /// Hashes all old rows.
    private(set) var before = TilesHash()
    /// Hashes all rows of the patch.
    private(set) var own = TilesHash()

    init(_ old: PackageFile, _ patch: PackageFile) throws {
        join = try TileJoin(try old.tiles(), try patch.changes())
        self.patch = patch
    }

    /// The next row of the result, `nil` at the end.
    mutating func next() throws -> TileRow? {
        while let (left, right) = try join.next() {
            if let left { before.add(left) }
            if let right, right.isDelta { return try changed(left, by: right) }
            if let right { own.add(right) }
            // A deletion is a row without a body; it produces no row.
            if let row = right ?? left, row.body != nil { return row }
        }
        return nil
    }

    /// The old tile with a delta applied; deltas are not tiles, so the patch's own hash does not include them.
    private func changed(_ old: TileRow?, by delta: TileRow) throws -> TileRow {
        func refusal(_ why: String, _ cause: (any Error)? = nil) -> PackagesError {
            PackagesError(
                .patchMismatch,
                "Patch '\(patch.path)' does not fit tile \(delta.zoom)/\(delta.column)/(row \(delta.row)) of the old package: "
                    + "\(why). Fetch the patch from that version, or the whole package.", cause: cause)
        }
        guard let body = old?.body, let bytes = delta.body else { throw refusal("there is no such tile") }
        do throws(TileBodiesError) {
            let new = try BodyDelta.apply(bytes, to: body)
            return TileRow(zoom: delta.zoom, column: delta.column, row: delta.row, body: new)
        } catch {
            throw refusal(error.message, error)
        }
    }

    /// Properties of the result, computed without writing a file.
    struct Survey {
        let before: String
        let after: String
        let own: String
        let tiles: UInt64
        /// Which bodies of the result occur more than once.
        let repeats: RepeatFilter
    }

    static func survey(_ old: PackageFile, _ patch: PackageFile, tick: () throws -> Void) throws -> Survey {
        var repeats = RepeatFilter(tiles: try old.count() + patch.count())
        var run = try PatchRun(old, patch)
        var after = TilesHash()
        var tiles: UInt64 = 0
        while let row = try run.next() {
            after.add(row)
            repeats.add(BodyKey(Digest(of: row.body ?? [])))
            tiles += 1
            if tiles % 1_024 == 0 { try tick() }
        }
        return Survey(
            before: run.before.finish(), after: after.finish(), own: run.own.finish(), tiles: tiles, repeats: repeats)
    }
}
