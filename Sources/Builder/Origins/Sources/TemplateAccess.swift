import Errors
import TileBodies
import Tilesets
import Transfer

/// A tile server that is asked with URL templates.
enum TemplateAccess: SourceAccess {
    static func metadata(
        of file: TilesetFile, environment: [String: String]
    ) async throws(OriginsError) -> SourceDescription { SourceDescription() }

    static func open(_ tileset: Tileset, _ opening: SourceOpening) async throws(OriginsError) -> any TileOrigin {
        try HTTPOrigin(
            tileset, environment: opening.environment, budget: opening.budget, lanes: opening.lanes,
            layers: opening.layers, onAnswer: opening.observer(of: .tiles))
    }
}

/// A TileJSON document on a web server.
enum TileJSONAccess: SourceAccess {
    /// A document is read up to this size, in bytes.
    static let maxBytes = 4 << 20

    static func metadata(
        of file: TilesetFile, environment: [String: String]
    ) async throws(OriginsError) -> SourceDescription {
        var asking = try OriginMetadata.asking(file)
        asking.maxTileBytes = maxBytes
        let (address, key): (String, String?)
        do throws(TilesetsError) {
            (address, key) = (try asking.address(environment: environment), try asking.key(environment: environment))
        } catch {
            throw OriginsError(.tileset, error.message, cause: error)
        }
        let client = try TransferClient.open(asking, environment: environment, budget: nil)
        let response: TransferResponse
        let body: [UInt8]
        do {
            response = try await client.get(address)
            guard response.status == 200 else {
                throw OriginsError(
                    .answered(response.status),
                    "Tileset '\(asking.id)': its TileJSON address answered \(response.status); expected 200. Check its url."
                )
            }
            let isGzip = Gzip.isGzip(response.body)
            body = isGzip ? try Gzip.decompress(response.body, limit: maxBytes) : response.body
        } catch let error as OriginsError {
            throw error
        } catch {
            throw OriginsError(
                .unreachable, "Tileset '\(asking.id)': its TileJSON document cannot be fetched: \(error)", cause: error)
        }
        do throws(TilesetsError) {
            return SourceDescription(metadata: try SourceMetadata(tileJSON: body, from: response.url), key: key)
        } catch {
            throw OriginsError(.tileset, error.message, cause: error)
        }
    }

    /// The tile URLs of the document take its place before a job is submitted.
    static func open(_ tileset: Tileset, _ opening: SourceOpening) async throws(OriginsError) -> any TileOrigin {
        throw OriginsError(.tileset, "Tileset '\(tileset.id)': its TileJSON document was not read.")
    }
}
