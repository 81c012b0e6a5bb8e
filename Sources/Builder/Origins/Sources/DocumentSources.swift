import Errors
internal import TextFormats
import Tilesets

/// A source whose document is read before a job is submitted; what the document names takes its place, so no job has such a source.
protocol DocumentAccess: SourceAccess {
    /// What messages call the document, after "its".
    static var what: String { get }
    /// The most bytes of it that are read.
    static var maxBytes: Int { get }
    /// The address that is asked, made of the one that the tileset names.
    static func address(_ named: String) -> String
    /// What a document says about the source.
    static func read(_ document: SourceDocument, of file: TilesetFile) throws(TilesetsError) -> SourceMetadata
}

extension DocumentAccess {
    static var maxBytes: Int { 4 << 20 }
    static func address(_ named: String) -> String { named }

    static func metadata(
        of file: TilesetFile, environment: [String: String]
    ) async throws(OriginsError) -> SourceDescription {
        try described(by: try await fetch(of: file, environment: environment), of: file)
    }

    static func open(_ tileset: Tileset, _ opening: SourceOpening) async throws(OriginsError) -> any TileOrigin {
        throw OriginsError(.tileset, "Tileset '\(tileset.id)': its \(what) was not read.")
    }

    static func fetch(
        of file: TilesetFile, environment: [String: String]
    ) async throws(OriginsError) -> SourceDocument {
        try await SourceDocument.fetch(
            of: file, what, limit: maxBytes, environment: environment, address: address)
    }

    /// - Throws: ``OriginsError`` `.tileset` with the reader's reason.
    static func described(
        by document: SourceDocument, of file: TilesetFile
    ) throws(OriginsError) -> SourceDescription {
        do throws(TilesetsError) {
            return SourceDescription(metadata: try read(document, of: file), key: document.key)
        } catch {
            let address = TilesetFile.withoutSecrets(file.source.address)
            throw OriginsError(
                .tileset,
                error.message.contains(address) ? error.message : "'\(address)': \(Sentence.inner(error.message))",
                hint: error.hint, cause: error)
        }
    }
}

/// A TileJSON document on a web server.
enum TileJSONAccess: DocumentAccess {
    static let what = "TileJSON document"

    static func read(_ document: SourceDocument, of file: TilesetFile) throws(TilesetsError) -> SourceMetadata {
        try SourceMetadata(tileJSON: document.body, from: document.url)
    }
}

/// A layer of a WMTS.
enum WMTSAccess: DocumentAccess {
    static let what = "WMTS capabilities"
    static let maxBytes = WMTSCapabilities.maxBytes

    static func address(_ named: String) -> String { WMTSCapabilities.address(named) }

    static func read(_ document: SourceDocument, of file: TilesetFile) throws(TilesetsError) -> SourceMetadata {
        try WMTSCapabilities(xml: document.body).metadata(of: file)
    }
}

/// A service of ArcGIS.
enum ArcGISAccess: DocumentAccess {
    static let what = "ArcGIS service"

    static func address(_ named: String) -> String { ArcGISService.address(named) }

    static func read(_ document: SourceDocument, of file: TilesetFile) throws(TilesetsError) -> SourceMetadata {
        try ArcGISService.metadata(json: document.body, address: file.source.address)
    }
}
