internal import Foundation
internal import GRDB
internal import Tiles

/// What the store knows about a catalog's last read.
struct CatalogMark: Sendable, Hashable {
    var etag: String?
    var checkedAt: Date?
}

extension StoreDatabase {
    /// Replaces what the catalog offers, and raises the sequences of its address and its key, in one transaction.
    ///
    /// - Parameter allowOlder: Whether the sequences may fall.
    func replaceOffers(_ catalog: VerifiedCatalog, address: String, mark: CatalogMark, allowOlder: Bool = false) throws
    {
        try write { database in
            try database.execute(sql: "DELETE FROM offer; DELETE FROM node")
            for (place, offer) in catalog.content.offers.enumerated() {
                try Self.insert(offer, place, database)
            }
            for (place, style) in catalog.content.styles.enumerated() {
                try Self.insert(style, place, database)
            }
            let nodes = try database.makeStatement(
                sql: "INSERT INTO node (place, id, parent, kind, names) VALUES (?, ?, ?, ?, ?)")
            for (place, node) in catalog.content.nodes.enumerated() {
                try nodes.execute(arguments: [place, node.id, node.parent, node.kind, FieldText.write(node.names)])
            }
            let limit = catalog.content.packLimit
            try Self.note(0, address, catalog.sequence, mark, limit, allowOlder, database)
            if let key = catalog.key {
                try Self.note(1, key, catalog.sequence, CatalogMark(), nil, allowOlder, database)
            }
        }
    }

    /// Notes that the server was asked and has nothing new.
    func noteUnchanged(address: String, at time: Date) throws {
        try write {
            try $0.execute(
                sql: "UPDATE catalog SET checked_at = ? WHERE kind = 0 AND name = ?",
                arguments: [time.timeIntervalSince1970, address])
        }
    }

    /// The largest sequences that were seen.
    func sequences() throws -> KnownSequences {
        try read { database in
            var known = KnownSequences()
            let rows = try Row.fetchCursor(database, sql: "SELECT kind, name, sequence FROM catalog")
            while let row = try rows.next() {
                guard let sequence = row["sequence"] as Int64? else { continue }
                if row["kind"] == 0 {
                    known.byAddress[row["name"]] = sequence
                } else {
                    known.byKey[row["name"]] = sequence
                }
            }
            return known
        }
    }

    /// When and with which ETag the catalog of an address was read; `nil` if it never was.
    func mark(address: String) throws -> CatalogMark? {
        try read { database in
            try Row.fetchOne(
                database, sql: "SELECT etag, checked_at FROM catalog WHERE kind = 0 AND name = ?", arguments: [address]
            ).map { row in
                CatalogMark(
                    etag: row["etag"],
                    checkedAt: (row["checked_at"] as Double?).map(Date.init(timeIntervalSince1970:)))
            }
        }
    }

    /// What the rows say about the catalog; no JSON is read.
    ///
    /// - Returns: `nil` when no catalog was read yet.
    func content() throws -> CatalogContent? {
        try read { database in
            guard let limit = try Row.fetchOne(database, sql: "SELECT pack_limit FROM catalog WHERE pack_limit NOTNULL")
            else { return nil }
            var content = CatalogContent()
            content.packLimit = limit[0]
            let offers = try Row.fetchCursor(database, sql: "SELECT * FROM offer ORDER BY kind, place")
            while let row = try offers.next() {
                if row["kind"] == 0 {
                    if let offer = CatalogContent.Offer(row) { content.offers.append(offer) }
                } else if let file = FieldText.downloads(row["files"]).first {
                    let name = FieldText.names(row["names"])[""]
                    content.styles.append(
                        CatalogContent.Style(id: row["id"], name: name, version: row["version"], file: file))
                }
            }
            let nodes = try Row.fetchCursor(database, sql: "SELECT id, parent, kind, names FROM node ORDER BY place")
            while let row = try nodes.next() {
                content.nodes.append(
                    CatalogContent.Node(
                        id: row[0], parent: row[1], kind: row[2], names: FieldText.names(row[3])))
            }
            return content
        }
    }

    private static func note(
        _ kind: Int, _ name: String, _ sequence: Int64?, _ mark: CatalogMark, _ limit: Int?, _ allowOlder: Bool,
        _ database: Database
    ) throws {
        try database.execute(
            sql: """
                INSERT INTO catalog (kind, name, sequence, etag, checked_at, pack_limit) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (kind, name) DO UPDATE SET etag = excluded.etag, checked_at = excluded.checked_at,
                pack_limit = excluded.pack_limit, sequence = CASE WHEN ? THEN excluded.sequence
                ELSE max(ifnull(sequence, excluded.sequence), ifnull(excluded.sequence, sequence)) END
                """,
            arguments: [kind, name, sequence, mark.etag, mark.checkedAt?.timeIntervalSince1970, limit, allowOlder])
    }

    private static let insertion = """
        INSERT INTO offer (kind, place, id, edition_group, language, region, names, version, mask, min_zoom, max_zoom,
        tileset, data_date, attribution, files, patches, packs) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    private static func insert(_ offer: CatalogContent.Offer, _ place: Int, _ database: Database) throws {
        try database.cachedStatement(sql: insertion).execute(arguments: [
            0, place, offer.id, offer.group, offer.language, offer.region, FieldText.write(offer.names), offer.version,
            Data(offer.mask.encoded()), offer.zooms?.min, offer.zooms?.max, offer.tileset, offer.dataDate,
            offer.attribution, FieldText.write(offer.files), FieldText.write(offer.patches),
            FieldText.write(offer.packs.map { [$0] } ?? []),
        ])
    }

    private static func insert(_ style: CatalogContent.Style, _ place: Int, _ database: Database) throws {
        try database.cachedStatement(sql: insertion).execute(arguments: [
            1, place, style.id, nil, nil, nil, FieldText.write(style.name.map { ["": $0] } ?? [:]), style.version, nil,
            nil, nil, nil, nil, nil, FieldText.write([style.file]), "", "",
        ])
    }
}

extension CatalogContent.Offer {
    /// Reads a row; `nil` for a mask that is none.
    fileprivate init?(_ row: Row) {
        guard let bytes = row["mask"] as Data?, let mask = try? TileMask(decoding: bytes) else { return nil }
        self.init(
            id: row["id"], group: row["edition_group"], language: row["language"], region: row["region"],
            names: FieldText.names(row["names"]), version: row["version"], mask: mask,
            zooms: UnitRow.zooms(row["min_zoom"], row["max_zoom"]), tileset: row["tileset"],
            dataDate: row["data_date"], attribution: row["attribution"], files: FieldText.downloads(row["files"]),
            patches: FieldText.downloads(row["patches"]), packs: FieldText.downloads(row["packs"]).first)
    }
}
