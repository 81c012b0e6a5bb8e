import ArgumentParser
import Catalog
import CatalogFormat
internal import CommandSupport
internal import Digests
import Errors
import Files
import Foundation
import PackageFiles
import Packages
import Regions
internal import TextFormats
import TileBodies
import Tiles

/// `packhorse catalog import`: puts an existing package into a catalog.
struct CatalogImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Put an existing package into a catalog as its next version.",
        discussion: """
            An undamaged MBTiles file of any dialect is used unchanged, byte for byte, so that patches for its users can be made;
            PMTiles and CARTO's packages are rewritten as MBTiles; --rewrite forces this. The mask is computed from the tiles.
            Every tile is checked first.
            Examples:
              packhorse catalog import ./data/catalog old/EE.mbtiles --id EE
              packhorse catalog import ./data/catalog town.mbtiles --id town --name en=Europe/Estonia/Tartu --data-date 2026-10-01
            """)

    @OptionGroup var catalog: CatalogOptions
    @Argument(help: "The package file.") var file: String
    @Option(help: "The package's id in the catalog; a region's id uses the region's names.") var id: String
    @Option(
        help: ArgumentHelp("A name path, en=Europe/Estonia; may be repeated.", valueName: "language=path"))
    var name: [String] = []
    @Option(help: "The data group of the package.") var group: String?
    @Option(help: "The language of the names in the tiles.") var language: String?
    @Option(help: "Id of the package's tileset. Default: that of the previous version.") var tileset: String?
    @Option(help: "The date of the data: 2026-10-01.") var dataDate: String?
    @Flag(help: "Allow it to replace a package of another tileset.") var replaceTileset = false
    @Flag(help: "Allow it to replace a package of another area or of more zooms, and to be smaller.")
    var replaceArea = false
    @Flag(
        help:
            "Publish it even if it has less than half of the tiles or bytes of the previous version, or lacks its attribution or vector layers."
    )
    var allowShrink = false
    @Flag(help: "Rewrite it in Packhorse's own layout, so that patches result in exactly the published bytes.")
    var rewrite = false
    @OptionGroup var regions: RegionFolderOptions

    func run() throws {
        let url = URL(filePath: file)
        try FileKind.requireFile(url)
        let catalog = try catalog.open()
        let scratch = TemporaryName.forUse(as: "import")
        // A scratch folder that stays behind is harmless.
        defer { try? FileManager.default.removeItem(at: scratch) }
        let (source, report) = try package(of: url, scratch)
        let contents = try MBTilesContents.read(source)
        let (digest, size) = try Digest.ofFile(source)
        var request = PublishRequest(
            id: id, file: source, digest: digest, size: size, maskWire: contents.mask.cartoWire, names: try names(),
            tilesHash: report.tilesHash)
        request.options.edition = try CatalogEdition(group: group, language: language)
        request.zooms = contents.zooms
        request.attribution = contents.metadata["attribution"].map { String($0.prefix(1_000)) } ?? ""
        let members = TileSourceMembers(
            rows: contents.metadata, format: contents.metadata["format"].flatMap(TileFormat.init(word:)))
        (request.encoding, request.tileSize) = (members.sourceEncoding, members.tileSize)
        request.layers = MBTilesContents.layers(in: contents.metadata)
        request.tileset = tileset ?? ""
        request.options.dataDate = try dataDate.map(OfflineArguments.checkedDate)
        request.options.replacesTileset = replaceTileset
        request.options.replacesArea = replaceArea
        request.options.allowsShrink = allowShrink
        request.tiles = report.tiles
        request.nodes = try nodes()
        let done = try catalog.publish(request)
        Console.result(done.path.path)
        if done.losesPacks {
            Console.warning(
                "the tile packs of the previous version are no longer listed; cut new ones: packhorse packs \(catalog.folder.path)"
            )
        }
        Console.note(
            "\(request.options.edition.path)\(id) version \(done.version)\(done.unchanged ? ", unchanged" : ""): "
                + "\(Units.count(report.tiles, of: "tile")), \(Units.bytes(size))")
    }

    /// The file to publish: the given one when it is undamaged MBTiles, else a rewritten one.
    private func package(of url: URL, _ scratch: URL) throws -> (URL, VerifyReport) {
        var reason: String?
        if try ArchiveKind.of(url) == .mbtiles {
            let report = try PackageVerify.run(url)
            guard !report.isPatch else {
                throw CLIError(
                    .badData, "'\(file)' is a patch, not a package", hint: "create the package first: packhorse apply")
            }
            if !rewrite, report.isVerified, report.tiles > 0 { return (url, report) }
            if !rewrite, let damage = report.problems.first(where: { Self.isDamage($0.code) }) {
                throw CLIError(
                    .badData, "'\(file)' is damaged: \(damage)",
                    hint: "fetch or build it again; --rewrite uses its readable tiles")
            }
            reason = report.problems.first.map { "\($0)" }
        }
        try Durable.makeFolder(scratch)
        let rewritten = scratch.appending(path: "\(id.prefix(100)).mbtiles")
        let remarks = try PackageExport.write(from: url, format: .mbtiles, to: rewritten).remarks
        for line in remarks.lines { Console.warning("'\(file)': \(line)") }
        for line in EqualCauses.lines(remarks.examples.map(\.description)) { Console.note("  \(line)") }
        let report = try PackageVerify.run(rewritten)
        guard report.tiles > 0 else { throw CLIError(.badData, "'\(file)' has no usable tile") }
        guard report.isVerified else {
            throw CLIError(
                .badData,
                "'\(file)' is damaged: \(Units.count(report.problemCount, of: "problem"))",
                details: EqualCauses.lines(report.problems.map(\.description)))
        }
        if let reason { Console.note("'\(file)' was rewritten: \(reason)") }
        return (rewritten, report)
    }

    /// Whether a problem means damage, and not only another layout than ours.
    private static func isDamage(_ code: String) -> Bool {
        ["hash-mismatch", "seal-broken", "lost-body", "sqlite-integrity", "sqlite"].contains(code)
    }

    /// The regions that the embedded tree does not have: the imported region and its ancestors.
    private func nodes() throws -> [CatalogIndex.Node] {
        let tree = try regions.tree
        guard let region = tree[id], region.id == id else { return [] }
        return tree.importedLine(of: region).map {
            CatalogIndex.Node(id: $0.id, parent: $0.parentID, kind: $0.kind.rawValue, names: $0.names)
        }
    }

    private func names() throws -> [String: String] {
        var names: [String: String] = [:]
        for text in name {
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex, text.last != "=" else {
                throw CLIError(.usage, "'\(text)' is not a name; write --name en=Europe/Estonia")
            }
            names[String(text[..<equals])] = String(text[text.index(after: equals)...])
        }
        guard names.isEmpty else { return names }
        let tree = try regions.tree
        return tree[id].map { tree.localizedPaths(of: $0.id) } ?? ["en": id]
    }
}
