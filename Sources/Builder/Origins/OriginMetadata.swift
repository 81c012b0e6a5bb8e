public import Errors
public import Tilesets

/// Completes tilesets with what their sources say about themselves.
public enum OriginMetadata {
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
        let described = try await file.source.scheme.access.metadata(of: file, environment: environment)
        return try completed(file, by: described)
    }

    /// The tileset over the newest build of a source whose address changes; `nil` when that is the known build.
    ///
    /// Then at most the document that names builds and the first bytes of the archive were received.
    ///
    /// - Throws: As ``pinned(_:environment:)``.
    public static func newest(
        _ file: TilesetFile, unlike known: KnownBuild?, environment: [String: String]
    ) async throws(OriginsError) -> (tileset: Tileset, version: String?)? {
        guard let found = try await NewestBuild(file, environment).find(unlike: known) else { return nil }
        let made = try completed(file, by: found)
        return (made.tileset, made.version)
    }

    private static func completed(
        _ file: TilesetFile, by described: SourceDescription
    ) throws(OriginsError) -> (tileset: Tileset, version: String?, remarks: [String]) {
        let tileset: Tileset
        do throws(TilesetsError) {
            tileset = try file.resolved(metadata: described.metadata, key: described.key)
        } catch {
            throw OriginsError(.tileset, error.message, cause: error)
        }
        let remarks = described.metadata?.remarks ?? []
        if let version = described.version { return (tileset, version, remarks) }
        return (tileset, try OriginFactory.version(of: tileset), remarks)
    }

    static func asking(_ file: TilesetFile) throws(OriginsError) -> Tileset {
        do throws(TilesetsError) {
            return try file.forAsking()
        } catch {
            throw OriginsError(.tileset, error.message, cause: error)
        }
    }
}
