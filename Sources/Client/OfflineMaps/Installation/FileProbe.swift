internal import Files
internal import Foundation
internal import PMTiles
internal import PackageFiles
internal import StyleFormat
internal import Tiles

/// Looks whether a file can be read as what it is said to be: its header, its index, and one tile.
///
/// The digest of the signed catalog has proved each byte before. The seal is a digest of the same bytes and is not
/// checked again.
enum FileProbe {
    /// Whether the file is of the file's format and gives a tile.
    ///
    /// - Throws: `disk-full`, because a style is unpacked for a moment.
    static func isSound(_ file: URL, _ unit: InstalledFile) throws(StoreError) -> Bool {
        do {
            switch unit.format {
            case .mbtiles: return try probe(try MBTilesArchive(path: file.path, ArchiveAccess()))
            case .pmtiles: return try probe(try PMTilesArchive(path: file.path, ArchiveAccess()))
            case .maplibre:
                _ = try MapLibreHandle(path: file.path, ArchiveAccess())
                return true
            case .styleArchive: return try probeStyle(file)
            default: return true
            }
        } catch let error as StylesError where error.code == .diskFull {
            throw StoreError(.diskFull, error.message, cause: error, isRetriable: true)
        } catch { return false }
    }

    /// What the complete reading of a file of tiles has found.
    struct Findings {
        /// Why no command takes it; `nil` for a file that every command takes.
        var damage: String?
        /// What is passed over in a file that is taken.
        var remark: String?
    }

    /// Reads every byte and every different body of a file of tiles, as `packhorse verify` does.
    ///
    /// - Parameter passedOver: Called with every tile of which the file has no body that is a tile.
    /// - Throws: `PackagesError` `io`, `busy`.
    static func findings(in file: URL, passedOver: ((TileID) -> Void)? = nil) throws -> Findings {
        let report = try PackageVerify.run(file, passedOver: passedOver)
        guard report.isUsable else {
            return Findings(
                damage: report.damage.map { "\($0)" }
                    ?? "it has no tile that can be used (\(report.problems.last.map { "\($0)" } ?? "none at all"))")
        }
        guard report.unusable > 0, let first = report.problems.first else { return Findings() }
        return Findings(
            remark: "tiles that cannot be used are passed over: \(report.unusable); the first problem: \(first)")
    }

    /// Reads the first tile.
    private static func probe(_ archive: any TileArchive) throws -> Bool {
        struct Found: Error { let tile: TileID }
        struct Strange: Error {}
        do {
            try archive.tiles(strange: { _, _ in throw Strange() }, { tile, _, _ in throw Found(tile: tile) })
        } catch let found as Found {
            return try archive.find(found.tile).body?.served() != nil
        }
        // A package of an area without any tile is a package too.
        return true
    }

    /// Unpacks a style next to its archive for a moment: names, sizes and checksums, and the index of the pack.
    private static func probeStyle(_ file: URL) throws -> Bool {
        let folder = URL(filePath: file.path + ".probe", directoryHint: .isDirectory)
        // What a crash has left.
        try FileInstaller.removeFolder(folder)
        try Durable.makeFolder(folder)
        // A folder that stays is removed by the next probe of the file.
        defer { try? FileInstaller.removeFolder(folder) }
        try StoredZip.unpack(file, into: folder)
        _ = try StylePack(folder).style()
        return true
    }
}
