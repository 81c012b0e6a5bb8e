import Errors
import TileBodies
import Tilesets
import Transfer

/// A document that describes a source, fetched with the headers, key and limits of the tileset.
struct SourceDocument {
    /// Where it came from, after redirects: a URL that may hold the key, or the absolute path of a file of this machine.
    let url: String
    let body: [UInt8]
    /// The value of `{key}`; `nil` without one.
    var key: String?

    /// Fetches a document.
    ///
    /// - Parameters:
    ///   - what: What it is, for messages: `TileJSON`.
    ///   - limit: The most bytes, as sent and unpacked.
    ///   - address: Makes the address that is asked of the one that the tileset names.
    /// - Throws: ``OriginsError``: `.refused` or `.unreachable` by the status, `.tileset` for an address that cannot be asked.
    static func fetch(
        of file: TilesetFile, _ what: String, limit: Int, environment: [String: String], address: (String) -> String
    ) async throws(OriginsError) -> SourceDocument {
        var asking = try OriginMetadata.asking(file)
        asking.maxTileBytes = limit
        let (named, key): (String, String?)
        do throws(TilesetsError) {
            (named, key) = (try asking.address(environment: environment), try asking.key(environment: environment))
        } catch {
            throw OriginsError(.tileset, error.message, cause: error)
        }
        let client = try TransferClient.open(asking, environment: environment, budget: nil)
        do {
            let response = try await client.get(address(named))
            guard response.status == 200 else {
                let message = ServiceMessage(in: response.body).map { ": \($0.text)" } ?? "; expected 200"
                throw OriginsError(
                    .answered(response.status),
                    "Tileset '\(asking.id)': the address of its \(what) answered \(response.status)\(message). Check the address."
                )
            }
            let isGzip = Gzip.isGzip(response.body)
            let body = isGzip ? try Gzip.decompress(response.body, limit: limit) : response.body
            return SourceDocument(url: response.url, body: body, key: key)
        } catch let error as OriginsError {
            throw error
        } catch {
            throw OriginsError(
                .unreachable, "Tileset '\(asking.id)': its \(what) cannot be fetched: \(error)", cause: error)
        }
    }
}
