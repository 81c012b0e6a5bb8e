import Errors
import PMTiles
import TileBodies
import Tilesets
import Transfer

/// How the sources of one scheme are read.
///
/// The file of a new scheme conforms to it and is named below; ``SourceScheme`` has the scheme's row.
protocol SourceAccess {
    /// What a source says about itself, and the version of its data; `nil` for what it does not say.
    ///
    /// - Throws: ``OriginsError``, as ``OriginMetadata/resolve(_:environment:)`` does.
    static func metadata(
        of file: TilesetFile, environment: [String: String]
    ) async throws(OriginsError) -> SourceDescription

    /// Opens a source.
    ///
    /// - Throws: ``OriginsError``.
    static func open(_ tileset: Tileset, _ opening: SourceOpening) async throws(OriginsError) -> any TileOrigin

    /// The version of the data that the tileset's file has now; `nil` for servers.
    ///
    /// May block on the disk.
    ///
    /// - Throws: ``OriginsError`` `.unreadable`.
    static func version(of tileset: Tileset) throws(OriginsError) -> String?
}

extension SourceAccess {
    static func version(of tileset: Tileset) throws(OriginsError) -> String? { nil }
}

extension SourceScheme {
    /// How its sources are read.
    var access: any SourceAccess.Type {
        switch self {
        case .templates: TemplateAccess.self
        case .latest: LatestAccess.self
        case .tileJSON: TileJSONAccess.self
        case .wmts: WMTSAccess.self
        case .arcGIS: ArcGISAccess.self
        case .mbtiles: MBTilesAccess.self
        case .pmtiles: PMTilesAccess.self
        case .remotePMTiles: RemotePMTilesAccess.self
        case .archives: ArchivesAccess.self
        case .archiveIndex: ArchiveIndexAccess.self
        }
    }
}

/// What a source says about itself.
struct SourceDescription: Sendable {
    var metadata: SourceMetadata?
    /// The version of its data; `nil` for tile servers.
    var version: String?
    /// The value of `{key}` where it may be repeated in the addresses of the metadata.
    var key: String?
}

/// What opening a source needs besides its tileset.
struct SourceOpening: Sendable {
    let environment: [String: String]
    let budget: OriginBudget?
    let lanes: Int
    let layers: LayerCache?
    let onAnswer: (@Sendable (OriginFactory.RequestKind, Duration) -> Void)?
    /// The connections of all archives of a source; `nil` = a remote archive makes its own.
    var client: TransferClient?
    /// The threads that check the bodies of all archives of a source; `nil` = an origin makes its own.
    var pool: BodyCheckPool?

    /// What a plan of ranges says of the archive, which is then not asked for its beginning.
    var planned: RangePlan.Archive?

    /// The observer of one kind of requests.
    func observer(of kind: OriginFactory.RequestKind) -> (@Sendable (Duration) -> Void)? {
        guard let onAnswer else { return nil }
        return { onAnswer(kind, $0) }
    }
}
