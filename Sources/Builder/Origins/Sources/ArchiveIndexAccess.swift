import Errors
import Foundation
import Tilesets

/// A document that lists archives, on a web server or in a file.
enum ArchiveIndexAccess: DocumentAccess {
    static let what = "index of archives"

    static func read(_ document: SourceDocument, of file: TilesetFile) throws(TilesetsError) -> SourceMetadata {
        try SourceMetadata(archiveIndex: document.body, from: document.url)
    }

    /// What the archives say that the document lists.
    static func metadata(
        of file: TilesetFile, environment: [String: String]
    ) async throws(OriginsError) -> SourceDescription {
        let document: SourceDocument
        if file.source.address.hasPrefix("/") {
            document = try local(file.source.address)
        } else {
            document = try await fetch(of: file, environment: environment)
        }
        let index = try described(by: document, of: file)
        var asking = try OriginMetadata.asking(file)
        asking.source = TileSource(.archives, index.metadata?.archives.map(\.text) ?? [])
        var description = try await ArchivesAccess.description(of: asking, environment: environment)
        description.key = index.key
        return description
    }

    private static func local(_ path: String) throws(OriginsError) -> SourceDocument {
        let data: Data
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? handle.close() }  // It was only read.
            data = try handle.read(upToCount: maxBytes + 1) ?? Data()
        } catch {
            throw OriginsError(
                .unreadable, "The index '\(path)' cannot be read: \(error.localizedDescription)", cause: error)
        }
        guard data.count <= maxBytes else {
            throw OriginsError(.badArchive, "The index '\(path)' has more than \(maxBytes) bytes.")
        }
        return SourceDocument(url: path, body: [UInt8](data))
    }
}
