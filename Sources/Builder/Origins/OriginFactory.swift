public import Errors
import Foundation
import PMTiles
public import TileBodies
public import Tilesets
public import Transfer

/// The cause of an ``OriginsError`` about a remote archive whose directories cannot be read: it has this version now.
///
/// A job of another version must not take that for damage: the archive was replaced, or is being written.
public struct UnreadableVersion: Error {
    /// As ``PinnedOrigin/version``.
    public let version: String
}

/// Opens origins.
public enum OriginFactory {
    /// What a request to a server asks for.
    public enum RequestKind: String, Hashable, Sendable, CaseIterable {
        /// A tile.
        case tiles
        /// A part of an archive.
        case archive
    }

    /// Opens the origin of a tileset.
    ///
    /// An HTTP origin owns a thread and its connections until the last reference is gone; its concurrency and rate hold for
    /// all fetches on it together. Open one per tileset and process and share it.
    /// - Parameter environment: Where `${NAME}` secrets come from; `SSL_CERT_FILE` names trusted certificates.
    /// - Parameter budget: The budget that gives permits for requests; `nil` = the tileset's own limits apply to this
    ///   process only.
    /// - Parameter layers: Numbers the layers of vector tiles, if the tileset does not list them; `nil` = they are not
    ///   needed.
    /// - Parameter ranges: A plan of the archive that the tileset names, if there is one: opening it then costs no request.
    /// - Parameter onAnswer: Called with the duration of each request that a server answered.
    /// - Throws: ``OriginsError``.
    public static func open(
        _ tileset: Tileset, environment: [String: String], budget: OriginBudget? = nil, layers: LayerCache? = nil,
        ranges: PlannedRanges? = nil, onAnswer: (@Sendable (RequestKind, Duration) -> Void)? = nil
    ) async throws(OriginsError) -> any TileOrigin {
        let layers = tileset.format.traits.isVector && tileset.vectorLayers == nil ? layers : nil
        var opening = SourceOpening(
            environment: environment, budget: budget,
            lanes: min(4, max(1, ProcessInfo.processInfo.activeProcessorCount)), layers: layers, onAnswer: onAnswer)
        opening.planned = ranges?.plan.archive
        return try await tileset.source.scheme.access.open(tileset, opening)
    }

    /// The version of the data that the tileset's file has now; `nil` for servers, whose archives are pinned by their
    /// origin (``PinnedOrigin``).
    ///
    /// May block on the disk. Two versions are equal exactly when tiles of both may be in one package, on whichever
    /// machines they were read: see `SourceVersion`.
    ///
    /// - Throws: ``OriginsError`` `.unreadable` if the archive does not exist or cannot be read.
    public static func version(of tileset: Tileset) throws(OriginsError) -> String? {
        try tileset.source.scheme.access.version(of: tileset)
    }

    /// The current stamp of the tileset's file; `nil` for servers, and if there is no file.
    ///
    /// An open archive does not notice changes: if the stamp differs, open it again.
    public static func stamp(of tileset: Tileset) -> ArchiveStamp? {
        tileset.source.path.flatMap(ArchiveStamp.init(path:))
    }
}
