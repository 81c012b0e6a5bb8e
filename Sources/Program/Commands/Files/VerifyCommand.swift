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
    @Flag(help: "Print the result as JSON: one document, an array for several paths.") var json = false

    func run() async throws {
        let mask = try mask.map { try TileMask(cartoText: $0) }
        var verdicts = Verdicts()
        var refused: [(path: String, error: CLIError)] = []
        for path in paths {
            let before = verdicts.count
            do { try await verify(URL(filePath: path), mask, into: &verdicts) } catch {
                guard paths.count > 1, let error = ErrorTranslation.cliError(error), error.status != .interrupted else {
                    if json { try verdicts.show(isList: paths.count > 1) }
                    throw error
                }
                refused.append((path, error))
                if !json {
                    Console.error(error)
                } else if verdicts.count == before {
                    verdicts.add(Refused(path: path, error: error.message))
                }
            }
        }
        if json { try verdicts.show(isList: paths.count > 1) }
        guard let first = refused.first else { return }
        throw CLIError(
            first.error.status,
            "\(refused.count) of \(Units.count(UInt64(paths.count), of: "path")) cannot be used: \(refused.map(\.path).joined(separator: ", "))"
        )
    }

    /// The document of a path that cannot be read as anything.
    private struct Refused: Encodable {
        let path: String
        let error: String
    }

    /// What begins a line about a path: its name, when there are several.
    private func label(_ url: URL) -> String { paths.count > 1 ? "\(url.relativePath): " : "" }

    /// What `--json` prints: the document of each path.
    private struct Verdicts {
        private var documents: [Document] = []

        private struct Document: Encodable {
            let content: any Encodable
            func encode(to encoder: any Encoder) throws { try content.encode(to: encoder) }
        }

        var count: Int { documents.count }

        mutating func add(_ document: some Encodable) { documents.append(Document(content: document)) }

        /// Prints one document: an array for several paths, else that of the only one, if there is any.
        func show(isList: Bool) throws {
            if isList { return Console.result(try JSONText.pretty(documents)) }
            if let only = documents.first { Console.result(try JSONText.pretty(only)) }
        }
    }

    private func verify(_ url: URL, _ mask: TileMask?, into verdicts: inout Verdicts) async throws {
        try FileKind.requirePath(url)
        if try PackageCheck.isTree(url) { return try package(url, mask, into: &verdicts) }
        if StylePackLocation.looksLikePack(url) {
            let check = try StylePackCheck.run(url)
            if json { verdicts.add(check) } else { Console.result(label(url) + check.summary) }
        } else if FileKind.isFolder(url) {
            let check = try await CatalogCheck.run(try CatalogSource(url.path))
            if json { verdicts.add(check) } else { Console.result(label(url) + check.summary) }
            check.warnings.forEach(Console.warning)
        } else if try ShardInspection.looksLikeShard(url) {
            let found = try ShardInspection.run(url)
            if json { return verdicts.add(found) }
            Console.result(
                "\(label(url))shard verified: \(Units.count(found.stored, of: "tile")), \(Units.count(found.empty)) empty, \(found.digest.hex)"
            )
        } else {
            try package(url, mask, into: &verdicts)
        }
    }

    private func package(_ url: URL, _ mask: TileMask?, into verdicts: inout Verdicts) throws {
        let report = try PackageCheck.verify(url, mask: mask)
        if json { verdicts.add(report) }
        if let refusal = PackageReport.refusal(report, isStrict: strict) { throw refusal }
        PackageReport.warn(report)
        if !json {
            Console.result(
                "\(label(url))\(report.isPatch ? "patch" : "package") verified: \(Units.count(report.tiles, of: "tile")), \(Units.bytes(report.size)), \(report.tilesHash), \(PackageReport.seal(report))"
            )
        }
    }
}
