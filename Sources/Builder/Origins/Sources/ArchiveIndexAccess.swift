import Errors
import Foundation
import TileBodies
import Tilesets
import Transfer

/// A document that lists archives, on a web server or in a file.
enum ArchiveIndexAccess: SourceAccess {
    /// A document is read up to this size, in bytes.
    private static let maxBytes = 4 << 20

    static func metadata(
        of file: TilesetFile, environment: [String: String]
    ) async throws(OriginsError) -> SourceDescription {
        var asking = try OriginMetadata.asking(file)
        let (body, address) = try await document(asking, environment)
        do throws(TilesetsError) {
            let index = try SourceMetadata(archiveIndex: body, from: address)
            asking.source = TileSource(.archives, index.archives.map(\.text))
        } catch {
            throw OriginsError(.tileset, error.message, cause: error)
        }
        return try await ArchivesAccess.description(of: asking, environment: environment)
    }

    /// The archives of the document take its place before a job is submitted.
    static func open(_ tileset: Tileset, _ opening: SourceOpening) async throws(OriginsError) -> any TileOrigin {
        throw OriginsError(.tileset, "Tileset '\(tileset.id)': its index of archives was not read.")
    }

    private static func document(
        _ tileset: Tileset, _ environment: [String: String]
    ) async throws(OriginsError) -> (body: [UInt8], address: String) {
        let address = tileset.source.address
        guard address.hasPrefix("/") else { return try await download(tileset, environment) }
        do {
            let data = try Data(contentsOf: URL(fileURLWithPath: address))
            guard data.count <= maxBytes else {
                throw OriginsError(.badArchive, "The index '\(address)' has more than \(maxBytes) bytes.")
            }
            return ([UInt8](data), address)
        } catch let error as OriginsError { throw error } catch {
            throw OriginsError(
                .unreadable, "The index '\(address)' cannot be read: \(error.localizedDescription)", cause: error)
        }
    }

    private static func download(
        _ tileset: Tileset, _ environment: [String: String]
    ) async throws(OriginsError) -> (body: [UInt8], address: String) {
        var asking = tileset
        asking.maxTileBytes = maxBytes
        let address: String
        do throws(TilesetsError) { address = try asking.address(environment: environment) } catch {
            throw OriginsError(.tileset, error.message, cause: error)
        }
        let client = try TransferClient.open(asking, environment: environment, budget: nil)
        do {
            let response = try await client.get(address)
            guard response.status == 200 else {
                throw OriginsError(
                    .answered(response.status),
                    "Tileset '\(asking.id)': its index of archives answered \(response.status); expected 200. Check its address."
                )
            }
            let isGzip = Gzip.isGzip(response.body)
            return (isGzip ? try Gzip.decompress(response.body, limit: maxBytes) : response.body, response.url)
        } catch let error as OriginsError {
            throw error
        } catch {
            throw OriginsError(
                .unreachable, "Tileset '\(asking.id)': its index of archives cannot be fetched: \(error)", cause: error)
        }
    }
}
