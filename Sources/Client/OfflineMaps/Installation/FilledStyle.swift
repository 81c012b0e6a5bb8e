internal import Digests
internal import Files
internal import Foundation
internal import GRDB
internal import SQLiteFiles
internal import StyleFormat

/// A style and all that it needs, while it is downloaded: a part file with one row for each resource.
///
/// Finished, it is a style pack as the builder makes it: an archive, and next to it the same files unpacked.
enum FilledStyle {
    private static let schema = """
        CREATE TABLE IF NOT EXISTS resource (url TEXT PRIMARY KEY, entry BLOB NOT NULL, body BLOB)
        """

    /// The addresses of the resources that a part file has.
    static func known(_ part: URL) -> Set<String> {
        guard access(part.path, R_OK) == 0 else { return [] }
        // What cannot be read is downloaded again.
        return
            (try? PartDatabase.open(part, readonly: true).read {
                try String.fetchSet($0, sql: "SELECT url FROM resource")
            })
            ?? []
    }

    /// Adds a resource; without a body, one that the server does not have and clients do not need.
    static func put(
        _ resource: StyleResource, _ body: Data?, etag: String?, into part: URL
    ) throws {
        let bytes = body.map { [UInt8]($0) }
        let entry = StylePackIndex.Entry(
            url: resource.url, kind: resource.kind, path: bytes == nil ? nil : resource.path,
            size: UInt64(bytes?.count ?? 0), sha256: bytes.map { Digest(of: $0).hex }, etag: etag, modified: nil)
        let row = try JSONEncoder().encode(entry)
        try PartDatabase.open(part, readonly: false).write { database in
            try database.execute(sql: schema)
            try database.execute(
                sql: "INSERT OR REPLACE INTO resource VALUES (?, ?, ?)", arguments: [resource.url, row, body])
        }
    }

    /// Writes the files of the pack into an empty folder.
    ///
    /// - Throws: ``StylesError`` when the style itself is not among the resources.
    static func write(_ part: URL, address: String, choice: StyleChoice, into folder: URL) throws {
        var entries: [StylePackIndex.Entry] = []
        var style: [UInt8]?
        let queue = try PartDatabase.open(part, readonly: true)
        try queue.read { database in
            let rows = try Row.fetchCursor(database, sql: "SELECT entry, body FROM resource ORDER BY url")
            while let row = try rows.next().map(CheckedRow.init) {
                let entry = try JSONDecoder().decode(StylePackIndex.Entry.self, from: try row(0) as Data)
                entries.append(entry)
                guard let path = entry.path, let body = try row(1) as Data? else { continue }
                try PackFile.write([UInt8](body), to: folder.appending(path: path))
                if entry.kind == .style { style = [UInt8](body) }
            }
        }
        guard let style else { throw StoreError.failing(.badStyle, "The style '\(address)' was not downloaded.") }
        let document = try StyleDocument(style)
        let paths = Dictionary(entries.map { ($0.url, $0.path) }) { first, _ in first }
        let rewritten = try OfflineStyle.relative(document, base: address) { paths[$0] ?? nil }
        let index = try StylePackIndex(
            name: document.name, style: address, choice: choice, rewritten: Digest(of: rewritten), entries: entries
        ).encoded()
        try PackFile.write(rewritten, to: folder.appending(path: PackPath.style))
        // The index last: a folder with an index is a whole pack.
        try Durable.write(index, to: folder.appending(path: PackPath.index))
    }
}
