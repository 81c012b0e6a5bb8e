import ArgumentParser
internal import CatalogTransfer
internal import CommandSupport
internal import Digests
import Errors
import Foundation
import PackageFiles
import Shards
internal import TextFormats
import Tiles

/// `packhorse verify`: checks that files are complete and undamaged.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract:
            "Verify shards, packages of any format or a whole catalog: structure, checksums, mask, every tile. Exit code 65 on an error.",
        discussion: """
            Examples:
              packhorse verify data/catalog
              packhorse verify EE.pmtiles EE.carto.mbtiles
              packhorse verify EE.mbtiles --mask "$(packhorse mask EE)"
            """)

    @Argument(
        help:
            "Catalog folders, packages of any format (also a folder of tiles), patches, style packs (folder or ZIP) or shards; recognised by content, not by name."
    ) var paths: [String]
    @Option(help: "A tile mask that must contain every tile of a package.") var mask: String?
    @Flag(
        help:
            "Refuse a file of another program for every problem, also for those that all commands pass over: single tiles that cannot be used, and its metadata."
    ) var strict = false
    @Flag(help: "Print the result as JSON.") var json = false

    func run() async throws {
        let mask = try mask.map { try TileMask(cartoText: $0) }
        for path in paths { try await verify(URL(filePath: path), mask) }
    }

    private func verify(_ url: URL, _ mask: TileMask?) async throws {
        try FileKind.requirePath(url)
        if try PackageCheck.isTree(url) { return try package(url, mask) }
        if StylePackLocation.looksLikePack(url) {
            let check = try StylePackCheck.run(url)
            if json { Console.result(try JSONText.pretty(check)) } else { Console.result(check.summary) }
        } else if FileKind.isFolder(url) {
            try await CatalogCheck.run(try CatalogSource(url.path)).printResult(json: json)
        } else if try ShardInspection.looksLikeShard(url) {
            let found = try ShardInspection.run(url)
            if json { return Console.result(try JSONText.pretty(found)) }
            Console.result(
                "shard verified: \(Units.count(found.stored, of: "tile")), \(Units.count(found.empty)) empty, \(found.digest.hex)"
            )
        } else {
            try package(url, mask)
        }
    }

    private func package(_ url: URL, _ mask: TileMask?) throws {
        let report = try PackageCheck.verify(url, mask: mask)
        if json { Console.result(try JSONText.pretty(report)) }
        if let refusal = PackageReport.refusal(report, isStrict: strict) { throw refusal }
        PackageReport.warn(report)
        if !json {
            Console.result(
                "\(report.isPatch ? "patch" : "package") verified: \(Units.count(report.tiles, of: "tile")), \(Units.bytes(report.size)), \(report.tilesHash), \(PackageReport.seal(report))"
            )
        }
    }
}
