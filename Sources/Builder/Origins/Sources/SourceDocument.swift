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
        try await fetch(
            with: try OriginMetadata.asking(file), what, limit: limit, environment: environment, fresh: false,
            address: address)
    }

    /// The same for the address of a tileset that is made for asking.
    ///
    /// - Parameter fresh: Whether caches on the way are asked to ask the server.
    static func fetch(
        with tileset: Tileset, _ what: String, limit: Int, environment: [String: String], fresh: Bool,
        address: (String) -> String
    ) async throws(OriginsError) -> SourceDocument {
        var asking = tileset
        asking.maxTileBytes = limit
        let (named, key): (String, String?)
        do throws(TilesetsError) {
            (named, key) = (try asking.address(environment: environment), try asking.key(environment: environment))
        } catch {
            throw OriginsError(.tileset, error.message, cause: error)
        }
        let client = try TransferClient.open(asking, environment: environment, budget: nil)
        var found = try await get(
            address(named), shown: tileset.source.address, id: asking.id, what, limit: limit, by: client, fresh: fresh)
        found.key = key
        return found
    }

    /// Fetches a document by connections that exist; the value of `{key}` is not known then.
    ///
    /// - Parameter shown: The address as the tileset names it, for messages; its query and user information are left out.
    static func get(
        _ address: String, shown: String, id: String, _ what: String, limit: Int, by client: TransferClient, fresh: Bool
    ) async throws(OriginsError) -> SourceDocument {
        let shown = TilesetFile.withoutSecrets(shown)
        do {
            let headers = fresh ? [HeaderField("Cache-Control", "no-cache")] : []
            let response = try await client.get(address, headers: headers)
            guard response.status == 200 else {
                let message = ServiceMessage(in: response.body).map { ": \($0.text)" } ?? "; expected 200"
                throw OriginsError(
                    .answered(response.status),
                    "Tileset '\(id)': the address of its \(what) answered \(response.status)\(message). Check the address '\(shown)'."
                )
            }
            let isGzip = Gzip.isGzip(response.body)
            let body = isGzip ? try Gzip.decompress(response.body, limit: limit) : response.body
            return SourceDocument(url: response.url, body: body)
        } catch let error as OriginsError {
            throw error
        } catch {
            throw OriginsError(
                .unreachable, "Tileset '\(id)': its \(what) '\(shown)' cannot be fetched: \(error)",
                hint: "does the server run, and is the address right?", cause: error)
        }
    }
}
