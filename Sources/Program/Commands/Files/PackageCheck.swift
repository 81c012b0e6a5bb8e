internal import CommandSupport
import Errors
import Foundation
import OfflineDatabase
import PackageFiles
import StyleFormat
internal import TextFormats
import Tiles

/// Verifies a package of any format, recognised by its content.
enum PackageCheck {
    /// Whether a path is a folder or a ZIP archive of tiles.
    static func isTree(_ url: URL) throws -> Bool {
        try TileFolder.isThere(url) || !FileKind.isFolder(url) && ArchiveKind.of(url) == .tree
    }

    /// The report for a package of any format.
    ///
    /// - Parameter mask: The allowed tiles. Offline databases contain their own area and ignore it.
    static func verify(_ url: URL, mask: TileMask? = nil) throws -> VerifyReport {
        switch try ArchiveKind.of(url) {
        case .maplibre: try OfflineDatabaseVerify.run(url)
        case .mbtiles, .pmtiles, .geoPackage, .tree, .other: try PackageVerify.run(url, mask: mask)
        }
    }
}

/// Verifies a style pack.
struct StylePackCheck: Encodable {
    /// The result in one line.
    let summary: String
    let style: String?
    let resources: Int
    let bytes: UInt64

    /// - Parameter url: Its folder, or a ZIP archive of it.
    /// - Throws: ``CLIError`` 65 with all problems; `StylesError`.
    static func run(_ url: URL) throws -> StylePackCheck {
        let place = try StylePackLocation(url)
        defer { withExtendedLifetime(place) {} }
        let pack = try StylePack(place.folder)
        let problems = try pack.problems()
        guard problems.isEmpty else {
            throw CLIError(
                .badData,
                "style pack '\(url.path)' is damaged: \(Units.count(problems.count, of: "problem"))",
                details: EqualCauses.lines(problems),
                hint: "run packhorse style-pack again")
        }
        let (count, bytes) = (pack.index.entries.count, pack.index.bytes)
        return StylePackCheck(
            summary: "style pack verified: \(Units.count(count, of: "resource")), \(Units.bytes(bytes))",
            style: pack.index.style, resources: count, bytes: bytes)
    }
}
