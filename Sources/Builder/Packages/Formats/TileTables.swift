internal import Cryptography
internal import Foundation
internal import GRDB
internal import PackageFiles
internal import Tiles

/// The tables of one MBTiles dialect, being filled in the package's order.
protocol TileTable {
    /// Adds a tile that follows all others in the order of zoom, column and TMS row.
    mutating func add(_ tile: FeedTile) throws
    /// Creates the objects that are created after the last tile.
    func finish() throws
}

/// Each body once, by number: the package itself.
struct DeduplicatedTable: TileTable {
    private let builder: any PackageWriter
    private var numbers = RepeatedValues<UInt32>()
    private var count: UInt32 = 0

    init(_ builder: any PackageWriter) { self.builder = builder }

    mutating func add(_ tile: FeedTile) throws {
        let number: UInt32
        if let known = numbers[tile] {
            number = known
        } else {
            guard count < UInt32.max else {
                throw PackagesError(.tooLarge, "The package has more than \(UInt32.max) different bodies; split it.")
            }
            count += 1
            number = count
            numbers[tile] = number
            try builder.add(body: try tile.body(), number: number)
        }
        try builder.add(zoom: tile.tile.zoom, column: tile.tile.x, row: tile.tile.tmsY, number: number)
    }

    func finish() {}
}

/// One table of tiles with their bodies.
struct FlatTable: TileTable {
    private let tiles: Statement

    init(_ database: Database) throws {
        for statement in MBTilesSchema.flat { try database.execute(sql: statement) }
        tiles = try database.makeStatement(sql: "INSERT INTO tiles VALUES (?, ?, ?, ?)")
    }

    func add(_ tile: FeedTile) throws {
        tiles.setUncheckedArguments([tile.tile.zoom, tile.tile.x, tile.tile.tmsY, Data(try tile.body())])
        try tiles.execute()
    }

    func finish() {}
}

/// Each body once, by the upper-case hexadecimal MD5 of its bytes.
struct NormalizedTable: TileTable {
    private let database: Database
    private let map: Statement
    private let images: Statement
    private var names = RepeatedValues<String>()

    init(_ database: Database) throws {
        self.database = database
        for statement in MBTilesSchema.normalized { try database.execute(sql: statement) }
        map = try database.makeStatement(sql: "INSERT INTO map VALUES (?, ?, ?, ?)")
        images = try database.makeStatement(sql: "INSERT INTO images VALUES (?, ?)")
    }

    mutating func add(_ tile: FeedTile) throws {
        let name: String
        if let known = names[tile] {
            name = known
        } else {
            let body = try tile.body()
            name = MD5.text(of: body)
            names[tile] = name
            images.setUncheckedArguments([Data(body), name])
            try images.execute()
        }
        map.setUncheckedArguments([tile.tile.zoom, tile.tile.x, tile.tile.tmsY, name])
        try map.execute()
    }

    /// - Throws: `unsupported` when two bodies share their MD5, which is possible on purpose.
    func finish() throws {
        do {
            try database.execute(sql: MBTilesSchema.normalizedIndex)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            throw PackagesError(
                .unsupported,
                "Two different tiles share their MD5, which is the body id in '\(PackageFormat.mbtilesNormalized)'; "
                    + "choose another format.", cause: error)
        }
    }
}

/// What is known of bodies that occur again; the others take no memory.
struct RepeatedValues<Value> {
    private var values: [BodyKey: Value] = [:]

    subscript(tile: FeedTile) -> Value? {
        get { tile.occursAgain ? values[tile.key] : nil }
        set { if tile.occursAgain { values[tile.key] = newValue } }
    }
}
