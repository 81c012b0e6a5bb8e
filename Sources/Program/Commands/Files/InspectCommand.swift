import ArgumentParser
internal import CommandSupport
internal import Digests
import Errors
import Foundation
import PackageFiles
import Shards
import StyleFormat
internal import TextFormats

/// `packhorse inspect`: shows the contents of a shard or package.
struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show the contents of a shard, package or style pack.",
        discussion: """
            Examples:
              packhorse inspect data/catalog/packages/1/EE.mbtiles
              packhorse inspect --tiles data/blobs/3f/3f…
              packhorse inspect https://maps.example.com/planet.pmtiles
            """)

    @Argument(
        help:
            "A shard, a package of any format (also a folder of tiles), a style pack (folder or ZIP), or the address of a PMTiles archive (http, https, s3)."
    ) var file: String
    @Flag(help: "List every tile of a shard.") var tiles = false
    @Flag(help: "Print the result as JSON.") var json = false

    func run() async throws {
        if RemoteInput.isMeant(by: file) { return try await RemoteInput.inspect(file, json: json) }
        let url = URL(filePath: file)
        try FileKind.requirePath(url)
        if try PackageCheck.isTree(url) { return try package(url) }
        if StylePackLocation.looksLikePack(url) { return try style(url) }
        try FileKind.requireFile(url)
        if try ShardInspection.looksLikeShard(url) { try shard(url) } else { try package(url) }
    }

    private func package(_ url: URL) throws {
        var report = try PackageCheck.verify(url)
        let refusal = PackageReport.refusal(report)
        if let refusal, report.dialect == "unknown" { throw refusal }
        if refusal == nil, !report.isPatch {
            try report.describe()
            try report.countBodies()
        }
        try PackageReport.show(report, json: json)
        if let refusal {
            // The problems are shown already.
            throw CLIError(refusal.status, refusal.message, hint: refusal.hint)
        }
    }

    private func style(_ url: URL) throws {
        let place = try StylePackLocation(url)
        defer { withExtendedLifetime(place) {} }
        let index = try StylePack(place.folder).index
        if json { return Console.result(try JSONText.pretty(index)) }
        Console.result("style     \(index.name ?? "without a name"), \(index.style ?? "no address")")
        Console.result(
            "resources \(Units.count(UInt64(index.entries.count))), \(Units.bytes(index.bytes)), "
                + "\(index.entries.count(where: \.isAbsent)) missing on the server")
        let kinds = Dictionary(grouping: index.entries, by: \.kind.rawValue)
        for (kind, entries) in kinds.sorted(by: { $0.key < $1.key }) {
            Console.result("kind      \(kind) \(Units.count(UInt64(entries.count)))")
        }
    }

    private func shard(_ url: URL) throws {
        var listed: [String] = []
        let found = try ShardInspection.run(url) { entry in
            guard tiles else { return }
            let body = entry.body.map { "\($0.length) B  \($0.digest.hex.prefix(12))" } ?? "empty"
            listed.append(
                "\(entry.tile)  \(body)" + (entry.etag.map { "  etag \($0)" } ?? "")
                    + (entry.lastModified.map { "  \($0)" } ?? ""))
        }
        if json {
            Console.result(try JSONText.pretty(found))
        } else {
            Console.result("shard     \(found.path)")
            Console.result("digest    \(found.digest.hex)")
            Console.result("batch     tileset \(found.tileset), cell \(found.cell), zoom \(found.zooms)")
            Console.result(
                "tiles     \(Units.count(found.stored)) stored in \(Units.count(found.distinct)) bodies, \(Units.count(found.empty)) empty"
            )
            Console.result(
                "bytes     \(Units.bytes(found.size)) for \(Units.bytes(found.bodyBytes)) of bodies in \(Units.count(found.groups, of: "group"))"
            )
            for body in found.bodies ?? [] { Console.result(body.line) }
            for zoom in found.tilesPerZoom {
                Console.result(
                    "zoom \(zoom.zoom)    \(Units.count(zoom.stored)) stored, \(Units.count(zoom.empty)) empty")
            }
        }
        listed.forEach(Console.result)
    }
}
