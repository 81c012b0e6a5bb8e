package import Errors
package import Foundation
internal import GRDB
package import TileBodies
package import Tiles

/// Opens files by their content, to write their tiles in another form.
package enum TileArchives {
    /// Opens a file without a check of its seal; `nil` for a file whose tiles are not read one by one.
    ///
    /// - Throws: ``ArchiveError``, ``PackagesError`` for a file that cannot be read.
    package static func readable(_ url: URL) throws -> (any TileArchive)? {
        switch try ArchiveKind.of(url) {
        case .mbtiles: try MBTilesArchive(path: url.path, .batch(url.path))
        case .pmtiles: try PMTilesArchive(path: url.path, .batch(url.path))
        case .maplibre, .geoPackage, .tree, .other: nil
        }
    }

    /// Opens a file for `body`, and checks its seal on another thread meanwhile.
    ///
    /// - Throws: ``PackagesError`` `bad-source` when the seal is broken, also if `body` succeeded; `bad-source`, `unsupported`, `busy`
    ///   and `io` for a file that cannot be read; and the errors of `body`.
    package static func open<Result>(
        _ url: URL, _ body: (any TileArchive, ArchiveFacts) throws -> Result
    ) throws -> Result {
        do {
            let access = ArchiveAccess.batch(url.path)
            let archive: any TileArchive
            var lost = 0
            let kind = try ArchiveKind.of(url)
            switch kind {
            case .mbtiles:
                let file = try MBTilesArchive(path: url.path, access)
                archive = file
                // The package's own tables are read row by row, so missing bodies are found there; a view would skip them.
                if try !file.facts().goesByReference { lost = try lostBodies(url) }
            case .pmtiles: archive = try PMTilesArchive(path: url.path, access)
            case .maplibre:
                throw PackagesError(
                    .unsupported,
                    "'\(url.path)' is a MapLibre offline database; convert the package it was made from instead.")
            case .geoPackage, .tree, .other:
                let remedy = kind.remedy(url.path).map { " " + $0 } ?? ""
                throw PackagesError(
                    .badSource, "'\(url.path)' is \(kind.words); it is neither an MBTiles nor a PMTiles file.\(remedy)")
            }
            return try whole(url, as: archive, lost: lost, body)
        } catch let error as ArchiveError {
            throw PackagesError(error)
        }
    }

    /// How many tiles name a body that the file does not have.
    private static func lostBodies(_ url: URL) throws -> Int {
        try PackageDatabase.reading(url) { try LostBodies.count($0) } ?? 0
    }

    private static func whole<Result>(
        _ url: URL, as archive: any TileArchive, lost: Int, _ body: (any TileArchive, ArchiveFacts) throws -> Result
    ) throws -> Result {
        var facts = try archive.facts()
        facts.lostBodies = lost
        guard facts.isSealed else { return try body(archive, facts) }
        let isPMTiles = archive is PMTilesArchive
        let found = BackgroundTask("source") { try isPMTiles ? PMTilesSeal.state(of: url) : SQLiteSeal.state(of: url) }
        let result = Swift.Result { try body(archive, facts) }
        if case .failure(let error) = result, error is CancellationError { throw error }
        guard try found.wait() != .broken else {
            throw PackagesError(
                .badSource,
                "'\(url.path)' is damaged: its seal is broken. Download or build it again. "
                    + "If another program changed it intentionally, remove '\(SQLiteSeal.name)' from its metadata."
            )
        }
        return try result.get()
    }
}

extension TileArchive {
    /// Calls `each` for every tile; rows that are no tiles are passed over.
    package func tiles(_ each: (TileID, _ reference: UInt64, _ length: UInt64) throws -> Void) throws {
        try tiles(strange: { _, _ in }, each)
    }

    /// What the bodies are.
    ///
    /// - Throws: ``ArchiveError`` `bad-archive` for an unknown format, naming what is there and what is supported.
    package func knownFormat(_ facts: ArchiveFacts, _ url: URL) throws(ArchiveError) -> TileFormat {
        if let format { return format }
        throw ArchiveError(
            .badArchive,
            "'\(url.path)' \(formatFault(facts) ?? ""). If its tiles are of one of these formats, say which: --input-format."
        )
    }

    /// Why the format is not known, in words that follow the name of the file; `nil` when it is known.
    package func formatFault(_ facts: ArchiveFacts) -> String? {
        guard format == nil else { return nil }
        let said = facts.rows["format"].map { "its metadata says '\($0.prefix(40))'" } ?? "its metadata does not say it"
        let found = otherKind.map { "its tiles are \($0)" } ?? "no tile of it is of a known format"
        return "has no tile format that can be read: \(said), \(found); supported are \(TileFormat.knownWords)"
    }
}

extension PackagesError {
    /// The same error, as this module's callers know it.
    package init(_ error: ArchiveError) {
        let code: Code =
            switch error.code {
            case .unreadable: .io
            case .busy: .busy
            case .unsupported: .unsupported
            case .badArchive, .badTile, .conflictingTiles: .badSource
            }
        self.init(code, error.message, cause: error)
    }
}
