import ArgumentParser
import Catalog
import CatalogFormat
internal import CommandSupport
import Errors
import Foundation
import PackageFiles
import Packages
internal import TextFormats
import Tiles

/// `packhorse packs`: cuts packages into tile packs that regions share.
struct PacksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "packs",
        abstract: "Cut a package, or a whole catalog, into tile packs that clients share between regions.",
        discussion: """
            A job with --tile-packs does this when it publishes. This command is for packages made without it, and for files.
            A pack contains the tiles of one band of zooms below one tile. Its address changes only with its bytes:
            packs/TILESET/INDEX-ZOOM/X/Y/HASH.mbtiles. regions/ID.json lists the packs of a region and which of them are complete: only a complete
            pack is the same in every region. Packs at the border of an area are complete when its job was submitted with --tile-packs.
            A pack of a file is complete when the file has all of its tiles. A catalog also knows which tiles are empty on the server.

            Examples:
              packhorse packs data/catalog
              packhorse packs EE.mbtiles -o packs --tileset demo
              packhorse packs EE.mbtiles -o packs --tileset demo --bands 0-5@0,6-10@6,11-14@11 --format pmtiles
            """)

    @Argument(help: "An MBTiles file, or a catalog folder, whose packs are written into the folder itself.") var input:
        String
    @Option(name: .shortAndLong, help: "The folder for packs and lists.") var output: String?
    @Option(help: "The package id of the list. Default: the file's name.") var id: String?
    @Option(
        help:
            "The tileset's id, under which regions share packs. In a catalog: for packages without a tileset id, which are otherwise skipped."
    )
    var tileset: String?
    @Option(
        help: "The mask for which the file was built: packs that reach beyond it are partial, whatever tiles they have."
    )
    var mask: String?
    @Option(
        help:
            "The bands: zooms@zoom of the index tile. Default: in a catalog the previous bands of a package, else standard, which is \(PackScheme.standard); mapbox is \(PackScheme.mapbox)."
    )
    var bands: String?
    @Option(help: "mbtiles or pmtiles.") var format = PackageFormat.mbtiles.rawValue
    @Option(
        help: ArgumentHelp(
            "Sign catalog.json again with this key; required for a signed catalog. Default: $PACKHORSE_SIGNING_KEY.",
            valueName: "file"))
    var signingKey: String?
    @Flag(help: "Print the list as JSON; the lists of a catalog as one array.") var json = false

    func run() async throws {
        let url = URL(filePath: input)
        try FileKind.requirePath(url)
        let command = self
        try await Interruptible.run {
            let isCatalog = FileKind.isFolder(url)
            // Checked before anything is cut.
            if isCatalog {
                try Catalog(url, create: false, signingKey: try SigningKeyOption.read(command.signingKey))
                    .checkMaySign()
            }
            let work = try isCatalog ? command.catalogWork(url) : [command.work(url)]
            let lists =
                try isCatalog
                ? work.map { try command.cut($0) }
                : OutputLocation.withFolder(work[0].folder) { try work.map { try command.cut($0) } }
            if isCatalog {
                try Catalog(url, create: false, signingKey: try SigningKeyOption.read(command.signingKey)).refresh()
            }
            guard command.json else { return }
            if isCatalog {
                Console.result(try JSONText.pretty(lists))
            } else {
                for list in lists { Console.result(try JSONText.pretty(list)) }
            }
        }
    }

    /// One package to cut.
    private struct Work {
        let order: TilePacks.Order
        /// The folder for packs and lists.
        let folder: URL
        /// The edition of the package.
        var edition = CatalogEdition.main
    }

    private func work(_ file: URL) throws -> Work {
        guard let output else { throw CLIError(.usage, "give the folder for the packs with -o FOLDER") }
        guard let tileset else {
            throw CLIError(.usage, "packs are shared under their tileset's id; pass it with --tileset")
        }
        var order = TilePacks.Order(
            package: file, id: id ?? file.deletingPathExtension().lastPathComponent, tileset: tileset)
        order.mask = try mask.map { try TileMask(cartoText: $0) }
        return Work(order: try complete(order, bands), folder: URL(filePath: output))
    }

    /// Every package of every edition, into the edition's own folder.
    private func catalogWork(_ folder: URL) throws -> [Work] {
        guard output == nil, id == nil, mask == nil else {
            throw CLIError(.usage, "a catalog's packs are written into its own folder, with its own ids and masks")
        }
        let catalog = try Catalog(folder, create: false)
        var skipped: [String] = []
        let work = try catalog.editions().flatMap { edition in
            let home = edition.path.isEmpty ? folder : folder.appending(path: edition.path)
            return try catalog.packages(in: edition).compactMap { entry -> Work? in
                guard entry.companion == nil else { return nil }
                guard entry.format == nil else {
                    Console.warning(
                        "package '\(edition.path)\(entry.id)' is PMTiles alone and is skipped; tile packs are cut from MBTiles"
                    )
                    return nil
                }
                guard let tileset = entry.tileset ?? tileset else {
                    skipped.append(edition.path + entry.id)
                    return nil
                }
                var order = TilePacks.Order(package: home.appending(path: entry.path), id: entry.id, tileset: tileset)
                order.mask = try TileMask(cartoText: entry.tileMask)
                order.lacksOnlyEmptyTiles = entry.failedTiles == 0
                let before = home.appending(path: TilePackList.path(entry.id))
                let known =
                    FileKind.isThere(before)
                    // A list that cannot be read names no bands; the list is written again.
                    ? try? TilePackList(decoding: Array(InputFile.read(before)), named: before.path) : nil
                return Work(order: try complete(order, bands ?? known?.bands), folder: home, edition: edition)
            }
        }
        guard let first = skipped.first else { return work }
        let hint = "pass it with --tileset; packages with a tileset id keep theirs"
        guard !work.isEmpty else {
            throw CLIError(.usage, "package '\(first)' has no tileset id, and there is no other package", hint: hint)
        }
        for id in skipped {
            Console.warning("package '\(id)' has no tileset id and is skipped; \(hint)")
        }
        return work
    }

    private func complete(_ order: TilePacks.Order, _ bands: String?) throws -> TilePacks.Order {
        var order = order
        order.scheme = try bands.map { try PackScheme(parsing: $0) } ?? .standard
        order.format = try packFormat()
        return order
    }

    /// - Throws: ``CLIError`` 64 for a format that is not possible for tile packs.
    private func packFormat() throws -> PackageFormat {
        let format = try PackageFormat(parsing: format)
        guard [.mbtiles, .pmtiles].contains(format) else {
            throw CLIError(.usage, "tile packs are mbtiles or pmtiles, not \(format)", hint: "omit --format")
        }
        return format
    }

    private func cut(_ work: Work) throws -> PackListView {
        let line = TileLine("cut", "packs of \(work.order.id)")
        defer { line.end() }
        let list = try TilePacks.cut(work.order, into: work.folder) { done, _ in
            if Task.isCancelled { throw CancellationError() }
            line.show(UInt64(done))
        }
        line.end()
        if !json { printSummary(list, work) }
        return PackListView(list: list, edition: work.edition)
    }

    private func printSummary(_ list: TilePackList, _ work: Work) {
        let complete = list.packs.filter(\.isComplete).count
        Console.result(
            "\(work.order.id)  \(Units.count(list.packs.count, of: "pack")), \(Units.count(UInt64(complete))) complete, "
                + "\(Units.bytes(list.size)), \(work.edition.path)\(TilePackList.path(work.order.id))")
        if list.packs.count > list.packsPerDevice {
            Console.warning(
                "\(work.order.id) alone has more packs than the \(Units.count(list.packsPerDevice)) that clients keep on a device"
            )
        }
    }
}

/// A list as printed: the content of the file, with the group and language of its catalog edition.
private struct PackListView: Encodable {
    let list: TilePackList
    let edition: CatalogEdition

    private enum CodingKeys: String, CodingKey { case group, language }

    func encode(to encoder: any Encoder) throws {
        try list.encode(to: encoder)
        var more = encoder.container(keyedBy: CodingKeys.self)
        try more.encodeIfPresent(edition.group, forKey: .group)
        try more.encodeIfPresent(edition.language, forKey: .language)
    }
}
