import Errors
import Tilesets

/// A TileJSON document on a web server.
enum TileJSONAccess: DocumentAccess {
    /// A document is read up to this size, in bytes.
    static let maxBytes = 4 << 20

    static func metadata(
        of file: TilesetFile, environment: [String: String]
    ) async throws(OriginsError) -> SourceDescription {
        let document = try await SourceDocument.fetch(
            of: file, "TileJSON", limit: maxBytes, environment: environment)
        return try document.described { (body) throws(TilesetsError) in
            try SourceMetadata(tileJSON: body, from: document.url)
        }
    }
}

/// A layer of a WMTS.
enum WMTSAccess: DocumentAccess {
    static func metadata(
        of file: TilesetFile, environment: [String: String]
    ) async throws(OriginsError) -> SourceDescription {
        let document = try await SourceDocument.fetch(
            of: file, "WMTS capabilities", limit: WMTSCapabilities.maxBytes, environment: environment,
            address: WMTSCapabilities.address)
        return try document.described { (body) throws(TilesetsError) in
            try WMTSCapabilities(xml: body).metadata(of: file)
        }
    }
}

/// A service of ArcGIS.
enum ArcGISAccess: DocumentAccess {
    static func metadata(
        of file: TilesetFile, environment: [String: String]
    ) async throws(OriginsError) -> SourceDescription {
        let document = try await SourceDocument.fetch(
            of: file, "ArcGIS service", limit: TileJSONAccess.maxBytes, environment: environment,
            address: ArcGISService.address)
        return try document.described { (body) throws(TilesetsError) in
            try ArcGISService.metadata(json: body, address: file.source.address)
        }
    }
}
