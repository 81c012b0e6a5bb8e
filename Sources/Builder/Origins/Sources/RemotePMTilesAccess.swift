import Errors
import Tilesets
import Transfer

/// A PMTiles archive on a web server or in a bucket.
enum RemotePMTilesAccess: SourceAccess {
    static func metadata(
        of file: TilesetFile, environment: [String: String]
    ) async throws(OriginsError) -> SourceDescription {
        let remote = try await RemoteFile(try OriginMetadata.asking(file), environment: environment, budget: nil)
        let metadata = try await RemotePMTiles(remote).metadata()
        return SourceDescription(metadata: metadata, version: remote.version.text)
    }

    static func open(_ tileset: Tileset, _ opening: SourceOpening) async throws(OriginsError) -> any TileOrigin {
        let file = try await self.file(tileset, opening)
        do throws(OriginsError) {
            return RemoteArchiveOrigin(
                try RemotePMTiles(file), tileset, checkedBy: opening.pool ?? BodyCheckPool(tileset, opening))
        } catch {
            throw OriginsError(error.code, error.message, cause: UnreadableVersion(version: file.version.text))
        }
    }

    /// Opens the file; a refusal is confirmed, because it ends the job.
    private static func file(_ tileset: Tileset, _ opening: SourceOpening) async throws(OriginsError) -> RemoteFile {
        var pauses = RemoteFile.pauses[...]
        while true {
            do throws(OriginsError) {
                return try await RemoteFile(
                    tileset, environment: opening.environment, budget: opening.budget,
                    client: opening.client, planned: opening.planned, onAnswer: opening.observer(of: .archive))
            } catch {
                if error.code == .refused, let pause = pauses.popFirst() {
                    // A cancelled sleep only ends it early; the caller sees the cancellation.
                    try? await Task.sleep(for: pause)
                } else if error.code == .unsupported, (error.cause as? TransferError)?.code == .rangeIgnored {
                    // The archive was readable when the tileset was read, so an HTML page in its place is treated as a
                    // temporary failure.
                    throw OriginsError(.unreachable, error.message, cause: error)
                } else {
                    throw error
                }
            }
        }
    }
}
