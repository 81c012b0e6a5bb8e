internal import PackageFiles

/// What the parts of a package file take, in bytes: the model of ``PackageForecast`` for one way of storing tiles.
struct PackageLayout: Sendable {
    /// What is known of the whole file.
    struct File {
        /// Tiles.
        let rows: Int
        /// Bytes of leaves for each byte of cells, where bodies lie in leaves of tables.
        let leafWaste: Double
        /// Bytes of the metadata's texts.
        let metadata: Int
    }

    /// Whether equal bodies are stored once.
    let storesBodiesOnce: Bool
    /// What every file has without tiles.
    let fixed: @Sendable (File) -> Double
    /// What a tile takes beside its body; the place is its zoom, column and TMS row.
    let entry: @Sendable (_ place: [Int], _ isNew: Bool, File) -> Double
    /// What a body takes where it is stored.
    let body: @Sendable (_ bytes: Int, File) -> Double
    /// What all files together take less.
    var saved: @Sendable (File) -> Double = { _ in 0 }
    /// Whether packed bodies are stored unpacked, so that their sizes say nothing.
    var isUnpacked = false

    /// Each body once, by number: the package itself.
    static let deduplicated = PackageLayout(
        storesBodiesOnce: true, fixed: { tables(3, $0) },
        entry: { place, _, file in row(SQLiteSizes.placeRecord(place + [file.rows])) },
        body: { cell($0, others: 4, $1) })

    /// One table of tiles with their bodies.
    static let flat = PackageLayout(
        storesBodiesOnce: false, fixed: { tables(3, $0) },
        entry: { place, _, file in row(SQLiteSizes.placeRecord(place + [file.rows])) * inserted },
        body: { cell($0, others: 14, $1) })

    /// Each body once, by name: the row has the name, 32 characters with a type of two bytes; where the body is stored it
    /// stands in the row, and with the row's number in an index.
    static let normalized = PackageLayout(
        storesBodiesOnce: true, fixed: { tables(4, $0) },
        entry: { place, _, _ in row(SQLiteSizes.placeRecord(place) + 34) * inserted },
        body: { cell($0, others: 38, $1) + row(36 + SQLiteSizes.integer($1.rows)) })

    /// PMTiles: entries of directories, and bytes reserved for header, root directory and metadata before the bodies.
    static let pmtiles = PackageLayout(
        storesBodiesOnce: true, fixed: { _ in pmtilesRoot + 48 },
        entry: { _, isNew, _ in packedEntry * (isNew ? 1 : 0.5) },
        body: { bytes, _ in Double(bytes) },
        saved: { Double($0.rows) * packedEntry < pmtilesRoot ? Double($0.rows) * packedEntry : 0 })

    /// One table with the body in each row and an index on the places; seven tables describe it.
    static let geoPackage = PackageLayout(
        storesBodiesOnce: false, fixed: { tables(18, $0) },
        entry: { place, _, file in row(SQLiteSizes.placeRecord(place + [file.rows])) * inserted },
        body: { cell($0, others: 14, $1) })

    /// Files with two records each; the name stands in both.
    static let zip = PackageLayout(
        storesBodiesOnce: false, fixed: { Double($0.metadata + 600) },
        entry: { place, _, _ in 76 + 2 * Double(place.reduce(6) { $0 + String($1).utf8.count }) },
        body: { bytes, _ in Double(bytes) }, isUnpacked: true)

    /// Files alone.
    static let folder = PackageLayout(
        storesBodiesOnce: false, fixed: { Double($0.metadata + 500) }, entry: { _, _, _ in 0 },
        body: { bytes, _ in Double(bytes) }, isUnpacked: true)

    /// Bytes of a packed entry of a PMTiles directory, measured on the demo world and on real archives: 2.6 to 3.6.
    private static let packedEntry = 3.0
    private static let pmtilesRoot = 16_384.0
    private static let page = PackageDatabase.pageSize
    /// Factor for the space that SQLite leaves free in an index that it fills in ascending order.
    private static let inserted = 1.05

    /// Pages of tables and metadata.
    private static func tables(_ count: Int, _ file: File) -> Double {
        Double((count + (file.metadata + 500) / (page - 100) + 1) * page)
    }

    /// A row of a tree without row numbers, with its place in the page and its part of inner pages.
    private static func row(_ record: Int) -> Double {
        Double(record + 3) * Double(page) / Double(page - 8 - (record + 3) / 2)
    }

    /// A row of a table with a BLOB: its cell in the leaf, and its chain of pages.
    private static func cell(_ blob: Int, others: Int, _ file: File) -> Double {
        let (cell, chained) = SQLiteSizes.cell(blob: blob, others: others, number: 10_000, pageSize: page)
        return Double(cell) * file.leafWaste + Double(chained * page)
    }
}
