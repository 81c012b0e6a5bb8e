internal import Foundation
package import GRDB
internal import Tiles

/// One row of `tiles`.
package struct TileRow {
    package let zoom: Int
    package let column: Int
    /// Counted from the south (TMS).
    package let row: Int
    /// `nil` in a patch: the tile is deleted.
    package let body: [UInt8]?
    /// Whether the body is a ``BodyDelta`` on the old one; only in patches.
    package var isDelta = false

    /// Ascends as rows do.
    package var key: UInt64 { UInt64(zoom) << 44 | UInt64(column) << 22 | UInt64(row) }
}

extension TilesHash {
    /// Adds a row; a NULL body adds nothing behind the three numbers.
    package mutating func add(_ row: TileRow) {
        add(zoom: row.zoom, column: row.column, row: row.row, body: row.body ?? [])
    }
}

/// The rows of a file one after another, each checked; one row is in memory.
package struct TileRows {
    private let cursor: RowCursor
    private let file: PackageFile
    private let deletions: Bool
    private var last: UInt64?

    package init(_ cursor: RowCursor, _ file: PackageFile, deletions: Bool) {
        self.cursor = cursor
        self.file = file
        self.deletions = deletions
    }

    /// The next row, `nil` at the end.
    ///
    /// - Throws: The file's code for a row that has invalid coordinates, has no body, or occurs twice.
    package mutating func next() throws -> TileRow? {
        guard let row = try file.naming({ try cursor.next() }) else { return nil }
        func number(_ place: Int) -> Int64? {
            let value: DatabaseValue = row[place]
            if case .int64(let number) = value.storage { return number }
            return nil
        }
        guard let zoom = number(0), let column = number(1), let tmsRow = number(2),
            0...Int64(TileID.maxZoom) ~= zoom, 0..<(1 << zoom) ~= column, 0..<(1 << zoom) ~= tmsRow
        else { throw file.refusal("a row of 'tiles' has invalid coordinates") }
        let body: [UInt8]?
        let value: DatabaseValue = row[3]
        switch value.storage {
        case .blob(let data): body = try file.decoded([UInt8](data))
        case .null where deletions: body = nil
        default: throw file.refusal("tile \(zoom)/\(column)/(row \(tmsRow)) has no body")
        }
        var result = TileRow(zoom: Int(zoom), column: Int(column), row: Int(tmsRow), body: body)
        if deletions { result.isDelta = row[4] as Int == 1 }
        guard last.map({ $0 < result.key }) ?? true else {
            throw file.refusal("tile \(zoom)/\(column)/(row \(tmsRow)) occurs twice")
        }
        last = result.key
        return result
    }
}

/// The rows of two files side by side, ascending.
struct TileJoin {
    private var left: TileRows
    private var right: TileRows
    private var ahead: (left: TileRow?, right: TileRow?)

    init(_ left: TileRows, _ right: TileRows) throws {
        self.left = left
        self.right = right
        ahead = (try self.left.next(), try self.right.next())
    }

    /// The rows of both files at the next coordinates that occur in either; `nil` at the end.
    package mutating func next() throws -> (left: TileRow?, right: TileRow?)? {
        let (mine, theirs) = ahead
        if mine == nil && theirs == nil { return nil }
        let (first, second) = (mine?.key ?? .max, theirs?.key ?? .max)
        if first <= second { ahead.left = try left.next() }
        if second <= first { ahead.right = try right.next() }
        return (first <= second ? mine : nil, second <= first ? theirs : nil)
    }
}
