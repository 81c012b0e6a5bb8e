package import Foundation
package import TileBodies
package import Tiles

/// A file whose tiles are to be written in another form.
///
/// Everything is checked, because the file may be from a third party. Errors are ``PackagesError`` `bad-source`,
/// `unsupported` or `io`.
package protocol PackageSource: AnyObject {
    /// Metadata as the rows of an MBTiles file, without the seal.
    var rows: [String: String] { get }
    /// What the bodies are.
    var format: TileFormat { get }
    /// How ``body(_:of:)`` is packed.
    var coding: BodyCoding { get }
    /// Whether Packhorse wrote it, so that bodies are canonical and metadata is complete.
    ///
    /// Valid only if the seal holds: ``PackageSources`` checks the seal at the same time, and rejects everything made
    /// from a file with a broken seal.
    var isOwn: Bool { get }
    /// Whether there is a seal.
    var isSealed: Bool { get }
    /// Whether each body has one reference and each reference one body.
    var namesBodies: Bool { get }
    /// The most different bodies there can be.
    func bodyLimit() throws -> UInt64
    /// Calls `each` for every tile, in the order of the file, with a reference to the body.
    func tiles(_ each: (TileID, _ reference: UInt64, _ length: UInt64) throws -> Void) throws
    /// The stored bytes of a tile's body.
    func body(_ record: TileRecord, of tile: TileID) throws -> [UInt8]
}

/// Opens files by their content.
package enum PackageSources {
    /// Opens a file for `body`, and checks its seal on another thread meanwhile.
    ///
    /// - Throws: `bad-source` when the seal is broken, also if `body` succeeded; and the errors of `body`.
    package static func open<Result>(_ url: URL, _ body: (any PackageSource) throws -> Result) throws -> Result {
        switch try PackageKind.of(url) {
        case .mbtiles:
            return try MBTilesSource.open(url) { try whole(url, source: $0, seal: MBTilesSource.seal(of:), body) }
        case .pmtiles: return try whole(url, source: try PMTilesSource(url), seal: PMTilesSource.seal(of:), body)
        case .maplibre:
            throw PackagesError(
                .unsupported,
                "'\(url.path)' is a MapLibre offline database; convert the package it was made from instead.")
        case .unknown:
            throw PackagesError(.badSource, "'\(url.path)' is neither an MBTiles nor a PMTiles file.")
        }
    }

    private static func whole<Result>(
        _ url: URL, source: any PackageSource, seal: @escaping @Sendable (URL) throws -> VerifyReport.Seal,
        _ body: (any PackageSource) throws -> Result
    ) throws -> Result {
        guard source.isSealed else { return try body(source) }
        let found = BackgroundTask("source") { try seal(url) }
        let result = Swift.Result { try body(source) }
        if case .failure(let error) = result, error is CancellationError { throw error }
        guard try found.wait() != .broken else {
            throw PackagesError(
                .badSource,
                "'\(url.path)' is damaged: its seal is broken. Download or build it again. "
                    + "If another program changed it intentionally, remove '\(SQLiteSeal.name)' from its metadata."
            )
        }
        return try result.get()
    }
}
