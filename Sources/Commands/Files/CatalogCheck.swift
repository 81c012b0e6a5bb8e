import Catalog
import Foundation
import Packages
import Shards
import Tiles

/// Proves every byte that a client of a catalog could fetch.
struct CatalogCheck: Encodable {
    /// What was found, in one line.
    let summary: String
    /// The packages' files.
    let paths: [String]

    /// Checks list, sizes and digests, then every package against its mask.
    ///
    /// - Throws: ``CLIError`` 65 with everything that is wrong.
    static func run(_ named: URL) throws -> CatalogCheck {
        // A coordinator's data folder has its catalog inside.
        let inner = named.appending(path: "catalog")
        let holdsList = FileManager.default.fileExists(atPath: named.appending(path: "packages.json").path)
        let folder = !holdsList && FileManager.default.fileExists(atPath: inner.path) ? inner : named
        guard FileManager.default.fileExists(atPath: folder.appending(path: "packages.json").path) else {
            throw CLIError(.noInput, "'\(named.path)' is no catalog: it has no packages.json")
        }
        let catalog = try Catalog(folder, create: false)
        let listed = try catalog.verify()
        var problems = listed.problems.map(\.description)
        var paths: [String] = []
        var tiles: UInt64 = 0
        for entry in try catalog.packages() {
            let file = folder.appending(path: entry.path)
            paths.append(file.path)
            guard FileManager.default.fileExists(atPath: file.path) else { continue }
            let report = try MBTilesVerify.run(
                file, mask: try TileMask(cartoText: entry.tileMask), expecting: Digest(hex: entry.sha256))
            problems += report.problems.map { "\(entry.id): \($0)" }
            tiles += report.tiles
        }
        guard problems.isEmpty else {
            throw CLIError(
                .badData,
                "catalog '\(folder.path)' is damaged: \(Units.count(problems.count, of: "problem"))\n  "
                    + problems.prefix(20).joined(separator: "\n  "),
                hint: "restore the named files, or remove them from packages.json and build them again")
        }
        let summary =
            "catalog sound: \(Units.count(listed.packages, of: "package")), \(Units.count(tiles)) tiles, \(Units.bytes(listed.bytes))"
        return CatalogCheck(summary: summary, paths: paths)
    }
}
