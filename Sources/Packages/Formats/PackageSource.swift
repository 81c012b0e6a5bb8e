internal import Foundation
internal import TileBodies
internal import Tiles

/// A file whose tiles are to be written in another form.
///
/// Everything is checked: the file may be a stranger's. Errors are ``PackagesError`` `bad-source`, `unsupported` or `io`.
protocol PackageSource: AnyObject {
    /// Metadata as the rows of an MBTiles file, without the seal.
    var rows: [String: String] { get }
    /// What the bodies are.
    var format: TileFormat { get }
    /// How ``body(_:of:)`` is packed.
    var coding: BodyCoding { get }
    /// Whether Packhorse wrote it: bodies are canonical and metadata is complete.
    var isOwn: Bool { get }
    /// Whether each body has one reference and each reference one body.
    var namesBodies: Bool { get }
    /// The most different bodies there can be.
    func bodyLimit() throws -> UInt64
    /// Calls `each` for every tile, in the order of the file, with what the body is known by.
    func tiles(_ each: (TileID, _ reference: UInt64, _ length: UInt64) throws -> Void) throws
    /// The stored bytes of a tile's body.
    func body(_ record: TileRecord, of tile: TileID) throws -> [UInt8]
}

/// Opens files by what is in them.
enum PackageSources {
    /// Opens a file for the time of `body`.
    static func open<Result>(_ url: URL, _ body: (any PackageSource) throws -> Result) throws -> Result {
        switch try PackageKind.of(url) {
        case .mbtiles: return try MBTilesSource.open(url, body)
        case .pmtiles: return try body(try PMTilesSource(url))
        case .maplibre:
            throw PackagesError(
                .unsupported,
                "'\(url.path)' is a MapLibre offline database; convert the package it was made from instead.")
        case .unknown:
            throw PackagesError(.badSource, "'\(url.path)' is neither an MBTiles nor a PMTiles file.")
        }
    }
}
