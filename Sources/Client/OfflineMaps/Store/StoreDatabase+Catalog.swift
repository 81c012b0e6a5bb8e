internal import CatalogFormat
internal import Foundation
internal import GRDB
internal import SQLiteFiles
internal import Tiles

/// What the store knows about a catalog's last read.
struct CatalogMark: Sendable, Hashable {
    var etag: String?
    var checkedAt: Date?
}

extension StoreDatabase {
    /// Replaces what the catalog offers.
    ///
    /// Sequences are changes of their own (`Change.sequence`).
    static func replaceOffers(_ new: CatalogCandidate, _ database: Database) throws {
        let content = new.verified.content
        try database.execute(sql: "DELETE FROM offer; DELETE FROM node")
        for (place, offer) in content.offers.flatMap(\.pieces).enumerated() { try insert(offer, at: place, database) }
        for (place, companion) in content.companions.enumerated() {
            try insert(companion, kind: 2, at: place, database)
        }
        for (place, style) in content.styles.enumerated() { try insert(style, at: place, database) }
        let nodes = try database.makeStatement(
            sql: "INSERT INTO node (place, id, parent, kind, names) VALUES (?, ?, ?, ?, ?)")
        for (place, node) in content.nodes.enumerated() {
            try nodes.execute(arguments: [place, node.id, node.parent, node.kind, FieldText.write(node.names)])
        }
        try database.execute(
            sql: """
                INSERT INTO catalog (kind, name, etag, checked_at, pack_limit, mirrors) VALUES (0, ?, ?, ?, ?, ?)
                ON CONFLICT (kind, name) DO UPDATE SET etag = excluded.etag, checked_at = excluded.checked_at,
                pack_limit = excluded.pack_limit, mirrors = excluded.mirrors
                """,
            arguments: [
                new.address, new.mark.etag, new.mark.checkedAt?.timeIntervalSince1970, content.packLimit,
                FieldText.write(content.mirrors.map { [$0] }),
            ])
    }

    /// Notes that the server was asked and has nothing new.
    func noteUnchanged(address: String, _ mark: CatalogMark) throws {
        try write {
            try $0.execute(
                sql: "UPDATE catalog SET checked_at = ?, etag = ifnull(?, etag) WHERE kind = 0 AND name = ?",
                arguments: [mark.checkedAt?.timeIntervalSince1970, mark.etag, address])
        }
    }

    /// The largest sequences that were seen, by the names that the rules have for their sources.
    static func sequenceRows(_ database: Database) throws -> [String: UInt64] {
        var known: [String: UInt64] = [:]
        let rows = try Row.fetchCursor(database, sql: "SELECT kind, name, sequence FROM catalog")
        while let row = try rows.next().map(CheckedRow.init) {
            guard let sequence = try row("sequence") as Int64? else { continue }
            let name: String = try row("name")
            known[try row("kind") == 0 ? CatalogSource.address(name) : CatalogSource.key(name)] = UInt64(
                clamping: sequence)
        }
        return known
    }

    /// When and with which ETag the catalog of an address was read; `nil` if it never was.
    func mark(address: String) throws -> CatalogMark? {
        try read { database in
            try Row.fetchOne(
                database, sql: "SELECT etag, checked_at FROM catalog WHERE kind = 0 AND name = ?", arguments: [address]
            ).map(CheckedRow.init).map { row in
                try CatalogMark(
                    etag: row("etag"),
                    checkedAt: (row("checked_at") as Double?).map(Date.init(timeIntervalSince1970:)))
            }
        }
    }

    /// What the rows say about the catalog; no JSON is read.
    ///
    /// - Returns: `nil` when no catalog was read yet.
    func content() throws -> CatalogContent? {
        try read { database in
            guard
                let row = try Row.fetchOne(
                    database, sql: "SELECT pack_limit, mirrors FROM catalog WHERE pack_limit NOTNULL"
                ).map(CheckedRow.init)
            else { return nil }
            var content = CatalogContent()
            content.packLimit = try row(0)
            content.mirrors = FieldText.read(try row(1) ?? "", fields: 1).map { $0[0] }
            let offers = try Row.fetchCursor(database, sql: "SELECT * FROM offer ORDER BY kind, place")
            while let row = try offers.next().map(CheckedRow.init) {
                let kind: Int = try row("kind")
                if kind == 0 {
                    if let offer = try CatalogContent.Offer(row) { content.offers.append(offer) }
                } else if kind == 2 {
                    if let offer = try CatalogContent.Offer(row) { content.companions.append(offer) }
                } else if let file = FieldText.downloads(try row("files")).first {
                    let name = FieldText.names(try row("names"))[""]
                    content.styles.append(
                        try CatalogContent.Style(id: row("id"), name: name, version: row("version"), file: file))
                }
            }
            content.offers = CatalogContent.joined(content.offers)
            let nodes = try Row.fetchCursor(database, sql: "SELECT id, parent, kind, names FROM node ORDER BY place")
            while let row = try nodes.next().map(CheckedRow.init) {
                content.nodes.append(
                    try CatalogContent.Node(
                        id: row(0), parent: row(1), kind: row(2), names: FieldText.names(row(3))))
            }
            return content
        }
    }

    private static let insertion = """
        INSERT INTO offer (kind, place, id, edition_group, language, region, names, version, mask, min_zoom, max_zoom,
        tileset, data_date, attribution, files, patches, packs, part_of, part, parts, companion)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    private static func insert(
        _ offer: CatalogContent.Offer, kind: Int = 0, at place: Int, _ database: Database
    ) throws {
        try database.cachedStatement(sql: insertion).execute(arguments: [
            kind, place, offer.id, offer.group, offer.language, offer.region, FieldText.write(offer.names),
            offer.version,
            Data(offer.mask.encoded()), offer.zooms?.min, offer.zooms?.max, offer.tileset, offer.dataDate,
            offer.attribution, FieldText.write(offer.files), FieldText.write(offer.patches),
            FieldText.write(offer.packs.map { [$0] } ?? []), offer.part?.of, offer.part?.number, offer.part?.count,
            offer.companion.map(FieldText.write),
        ])
    }

    private static func insert(_ style: CatalogContent.Style, at place: Int, _ database: Database) throws {
        try database.cachedStatement(sql: insertion).execute(arguments: [
            1, place, style.id, nil, nil, nil, FieldText.write(style.name.map { ["": $0] } ?? [:]), style.version, nil,
            nil, nil, nil, nil, nil, FieldText.write([style.file]), "", "", nil,
            nil, nil, nil,
        ])
    }
}

extension CatalogContent.Offer {
    /// Reads a row; `nil` when its mask is invalid.
    fileprivate init?(_ row: CheckedRow) throws {
        // Every error means: the mask is invalid.
        guard let bytes = try row("mask") as Data?, let mask = try? TileMask(decoding: bytes) else { return nil }
        try self.init(
            id: row("id"), group: row("edition_group"), language: row("language"), region: row("region"),
            names: FieldText.names(row("names")), version: row("version"), mask: mask,
            zooms: InstalledFile.zooms(row("min_zoom"), row("max_zoom")), tileset: row("tileset"),
            dataDate: row("data_date"), attribution: row("attribution"), files: FieldText.downloads(row("files")),
            patches: FieldText.downloads(row("patches")), packs: FieldText.downloads(row("packs")).first)
        companion = FieldText.companion(try row("companion") ?? "")
        if let whole = try row("part_of") as String? {
            part = CatalogPart(of: whole, number: try row("part"), count: try row("parts"))
        }
    }
}
