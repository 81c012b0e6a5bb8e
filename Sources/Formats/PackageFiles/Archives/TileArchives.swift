package import Errors
package import Foundation
internal import GRDB
package import TileBodies

/// Opens files by their content, to write their tiles in another form.
package enum TileArchives {
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
            switch try ArchiveKind.of(url) {
            case .mbtiles:
                let file = try MBTilesArchive(path: url.path, access)
                archive = file
                // The package's own tables are read row by row, so missing bodies are found there; a view would skip them.
                if try !file.facts().goesByReference { try checkBodies(url, file) }
            case .pmtiles: archive = try PMTilesArchive(path: url.path, access)
            case .maplibre:
                throw PackagesError(
                    .unsupported,
                    "'\(url.path)' is a MapLibre offline database; convert the package it was made from instead.")
            case .other(let words):
                throw PackagesError(
                    .badSource, "'\(url.path)' is \(words); it is neither an MBTiles nor a PMTiles file.")
            }
            return try whole(url, as: archive, body)
        } catch let error as ArchiveError {
            throw PackagesError(error)
        }
    }

    private static func checkBodies(_ url: URL, _ file: MBTilesArchive) throws {
        try file.checkIndex()
        let lost = try PackageDatabase.reading(url) { try LostBodies.count($0) }
        guard let lost, lost > 0 else { return }
        throw PackagesError(
            .badSource, "'\(url.path)' is damaged: the bodies of \(lost) tiles are missing. Fetch or build it again.")
    }

    private static func whole<Result>(
        _ url: URL, as archive: any TileArchive, _ body: (any TileArchive, ArchiveFacts) throws -> Result
    ) throws -> Result {
        let facts = try archive.facts()
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
    /// What the bodies are.
    ///
    /// - Throws: ``ArchiveError`` `bad-archive` for an unknown format, naming the supported ones.
    package func knownFormat(_ facts: ArchiveFacts, _ url: URL) throws(ArchiveError) -> TileFormat {
        if let format { return format }
        throw ArchiveError(
            .badArchive,
            "'\(url.path)' has the tile format '\(facts.rows["format"]?.prefix(40) ?? "")'; supported are "
                + TileFormat.allCases.map(\.rawValue).joined(separator: ", ") + ".")
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
            case .badArchive: .badSource
            }
        self.init(code, error.message, cause: error)
    }
}
