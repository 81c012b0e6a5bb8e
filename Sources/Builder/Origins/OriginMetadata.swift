public import Errors
import TileBodies
public import Tilesets
import Transfer

/// Completes tilesets with what their sources say about themselves.
public enum OriginMetadata {
    /// A TileJSON document is read up to this size, in bytes.
    static let maxTileJSON = 4 << 20

    /// Reads the TileJSON document or the archive a tileset file names, if it names one, and completes the tileset.
    ///
    /// - Throws: ``OriginsError`` `.tileset` for what the file lacks, `.unreachable` when the server gives no document
    ///   now, `.refused` when it gives none at all, and what opening the archive throws.
    public static func resolve(
        _ file: TilesetFile, environment: [String: String]
    ) async throws(OriginsError) -> Tileset {
        try await pinned(file, environment: environment).tileset
    }

    /// Does the same, and returns the version of the archive that was read; `nil` for tile servers
    /// (docs/decisions/0001); and what of it is not as it says, for people.
    public static func pinned(
        _ file: TilesetFile, environment: [String: String]
    ) async throws(OriginsError) -> (tileset: Tileset, version: String?, remarks: [String]) {
        var metadata: SourceMetadata?
        var version: String?
        switch file.archive {
        case .mbtiles(let path)?: metadata = try SourceMetadata(mbtiles: path)
        case .pmtiles(let path)?: metadata = try SourceMetadata(pmtiles: path)
        case .remotePMTiles?:
            let remote = try await RemoteFile(try asking(file), environment: environment, budget: nil)
            metadata = try await RemotePMTiles(remote).metadata()
            version = remote.version.text
        case .http?, nil: break
        }
        do {
            if file.tileJSONURL == nil {
                let tileset = try file.resolved(metadata: metadata)
                return (tileset, try version ?? OriginFactory.version(of: tileset), metadata?.remarks ?? [])
            }
        } catch let error as TilesetsError {
            throw OriginsError(.tileset, error.message, cause: error)
        } catch let error as OriginsError {
            throw error
        } catch {
            throw OriginsError(.unreadable, "\(error)", cause: error)
        }
        return (try await fetched(file, environment), nil, [])
    }

    static func asking(_ file: TilesetFile) throws(OriginsError) -> Tileset {
        do throws(TilesetsError) {
            return try file.forAsking()
        } catch {
            throw OriginsError(.tileset, error.message, cause: error)
        }
    }

    private static func fetched(
        _ file: TilesetFile, _ environment: [String: String]
    ) async throws(OriginsError) -> Tileset {
        var asking = try asking(file)
        asking.maxTileBytes = maxTileJSON
        let key: String?
        do throws(TilesetsError) {
            key = try asking.key(environment: environment)
        } catch {
            throw OriginsError(.tileset, error.message, cause: error)
        }
        let url = file.tileJSONURL(key: key) ?? ""
        let client = try TransferClient.open(asking, environment: environment, budget: nil)
        let body: [UInt8]
        do {
            let response = try await client.get(url)
            guard response.status == 200 else {
                throw OriginsError(
                    .answered(response.status),
                    "Tileset '\(asking.id)': its TileJSON address answered \(response.status); expected 200. Check its url."
                )
            }
            let isGzip = Gzip.isGzip(response.body)
            body = isGzip ? try Gzip.decompress(response.body, limit: maxTileJSON) : response.body
        } catch let error as OriginsError {
            throw error
        } catch {
            throw OriginsError(
                .unreachable, "Tileset '\(asking.id)': its TileJSON document cannot be fetched: \(error)", cause: error)
        }
        do throws(TilesetsError) {
            return try file.resolved(metadata: try SourceMetadata(tileJSON: body, from: url), key: key)
        } catch {
            throw OriginsError(.tileset, error.message, cause: error)
        }
    }
}
