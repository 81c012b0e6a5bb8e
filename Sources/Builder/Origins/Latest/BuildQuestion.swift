import Errors
import TextFormats
import TileBodies
import Tilesets
import Transfer

/// Asks a server which build it has now, for as long as tiles of it are fetched.
struct BuildQuestion: Sendable {
    private let document: SourceBuild.Document
    private let address: String
    private let id: String
    private let client: TransferClient

    /// - Parameter tileset: One with a build that a document names.
    /// - Throws: ``OriginsError`` `.tileset` for a document that cannot be asked for.
    init?(_ tileset: Tileset, _ opening: SourceOpening) throws(OriginsError) {
        guard let document = tileset.build?.document else { return nil }
        (self.document, id) = (document, tileset.id)
        var asking = tileset
        asking.source = TileSource(.tileJSON, document.address)
        do throws(TilesetsError) { address = try asking.address(environment: opening.environment) } catch {
            throw OriginsError(.tileset, error.message, cause: error)
        }
        client = try TransferClient.open(asking, environment: opening.environment, budget: opening.budget)
    }

    /// The version of the data of the build that the document names now.
    ///
    /// - Throws: ``OriginsError`` `.unreachable` when there is no such document at the moment.
    func version() async throws(OriginsError) -> String {
        let found: SourceDocument
        do throws(OriginsError) {
            found = try await SourceDocument.get(
                address, shown: document.address, id: id, "document of builds", limit: TileJSONAccess.maxBytes,
                by: client, fresh: true)
        } catch {
            // It was there when the job was made.
            throw OriginsError(error.code == .refused ? .unreachable : error.code, error.message, cause: error)
        }
        do throws(TilesetsError) { return SourceBuild.version(try document.name(in: found)) } catch {
            throw OriginsError(.unreachable, "Tileset '\(id)': \(error.message)", cause: error)
        }
    }
}

extension SourceBuild.Document {
    /// The build that the document names.
    fileprivate func name(in found: SourceDocument) throws(TilesetsError) -> String {
        switch form {
        case .text: try BuildIndex.name(text: found.body)
        case .tileJSON:
            try BuildIndex.name(tileAddresses: try SourceMetadata(tileJSON: found.body, from: found.url).templates)
        }
    }
}
