import ArgumentParser
import Catalog
import CatalogFormat
internal import CatalogTransfer
internal import CommandSupport
import Errors
import Foundation
internal import TextFormats

/// `packhorse catalog list`: the listed packages with what is attached to them.
struct CatalogListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the packages of a catalog and the files that are attached to them.",
        discussion: """
            Reads the lists only: 'packhorse catalog verify' reads the files too.
            Example: packhorse catalog list ./data/catalog
            """)

    @Argument(help: "The catalog's folder or its http(s) address.") var catalog: String
    @Flag(help: "Print the result as JSON.") var json = false

    func run() async throws {
        let source = try CatalogSource(toRead: catalog)
        let lists = try await source.lists()
        let rows = lists.sorted { $0.key < $1.key }.flatMap { edition, entries in
            entries.map { CatalogRow($0, in: edition) }
        }
        if json { return Console.result(try JSONText.pretty(rows)) }
        var table = Table("id", "group", "language", "version", "kind", "engine", "data", "size")
        for row in rows {
            table.add(
                row.id, row.group ?? "-", row.language ?? "-", "\(row.version)", row.kind ?? "map", row.engine ?? "-",
                row.dataDate ?? "-", Units.bytes(row.size))
        }
        table.lines.forEach(Console.result)
    }
}

/// A row of the list.
struct CatalogRow: Encodable {
    let id: String
    let group: String?
    let language: String?
    let version: Int32
    /// What the file is for; `nil` for a map.
    let kind: String?
    let engine: String?
    let dataDate: String?
    /// Bytes of the main file.
    let size: UInt64
    let sha256: String

    init(_ entry: CatalogEntry, in edition: CatalogEdition) {
        (id, version, dataDate, sha256) = (entry.id, entry.version, entry.dataDate, entry.sha256)
        (group, language) = (edition.group, edition.language)
        (kind, engine) = (entry.companion?.kind, entry.companion?.engine)
        size = UInt64(max(0, entry.size))
    }
}
