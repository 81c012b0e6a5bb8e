package import Errors
internal import GRDB
package import TileBodies

/// What the metadata of an MBTiles file says about reading its bodies.
///
/// Source of the two rows of CARTO's packages: Nutiteq's mobile SDK (docs/formats, "carto").
package struct MBTilesDialect: Sendable {
    private static let encryption = "nutikeysha1"
    private static let presetDictionary = "shared_zlib_dict"
    /// The rows, for ``init(_:)``.
    static let sql = """
        SELECT name, value FROM metadata WHERE name IN ('format', '\(encryption)', '\(presetDictionary)', \
        '\(PatchSchema.before)')
        """

    /// What the bodies are; `nil` when the file does not say so, or says something unknown.
    package private(set) var format: TileFormat?
    /// What bodies were packed with; `nil` if they do not use one.
    package private(set) var dictionary: [UInt8]?
    /// Whether bodies are encrypted with a key from CARTO; no key is known here.
    package private(set) var isEncrypted = false
    /// Whether the file is a patch, which has only the changed tiles.
    package private(set) var isPatch = false

    /// Every reader understands the bodies.
    package init() {}

    /// Reads the rows of ``sql``.
    init(_ rows: ReadStatement) throws(ArchiveError) {
        while try rows.step() {
            add(rows.text(0) ?? "", text: rows.metadata(1), bytes: rows.hasBytes(1) ? rows.bytes(1) : nil)
        }
    }

    /// Reads the metadata of an open file; no rows when it has none.
    init(_ database: Database) throws {
        guard try database.tableExists("metadata") || database.viewExists("metadata") else { return }
        let rows = try Row.fetchCursor(database, sql: Self.sql)
        while let row = try rows.next() {
            let text = String.fromDatabaseValue(row[1])
            var bytes = text.map { Array($0.utf8) }
            if case .blob(let data) = (row[1] as DatabaseValue).storage { bytes = [UInt8](data) }
            add(String.fromDatabaseValue(row[0]) ?? "", text: text, bytes: bytes)
        }
    }

    private mutating func add(_ name: String, text: String?, bytes: [UInt8]?) {
        switch name {
        case Self.encryption: isEncrypted = true
        case Self.presetDictionary: dictionary = bytes
        case PatchSchema.before: isPatch = true
        default: format = text.flatMap(TileFormat.init(word:))
        }
    }

    /// Refuses a file whose bodies cannot be read.
    ///
    /// - Throws: ``ArchiveError`` `unsupported`.
    package func checkKey(_ path: String) throws(ArchiveError) {
        guard isEncrypted else { return }
        throw ArchiveError(
            .unsupported, "'\(path)' is encrypted with a key from CARTO; only unencrypted packages can be read.")
    }

    /// A body as any reader understands it.
    ///
    /// - Throws: ``ArchiveError`` `bad-tile`.
    package func decoded(_ body: [UInt8], limit: Int = Gzip.defaultLimit) throws(ArchiveError) -> [UInt8] {
        guard let dictionary, !body.isEmpty else { return body }
        do throws(TileBodiesError) {
            return try PresetDictionary.decompress(body, dictionary: dictionary, limit: limit)
        } catch {
            throw ArchiveError(.badTile, "the tile cannot be unpacked: \(error.message)", cause: error)
        }
    }
}
