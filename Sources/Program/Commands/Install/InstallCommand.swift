import ArgumentParser
import CatalogFormat
internal import CatalogTransfer
internal import CommandSupport
import Errors
import Foundation
internal import TextFormats

/// `packhorse install`: the client of a catalog.
struct InstallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install", abstract: "Install or update packages from a catalog, as a device would.",
        discussion: """
            Without an id, lists the packages of the catalog. Installed files are not fetched again. An update is fetched as a patch if the
            installed version has one that is smaller than 70 % of the whole file. Downloads continue where they were
            interrupted, are verified by SHA-256, and replace the old file in one step. With --public-key only data that
            the key's holder has signed is accepted. A catalog that is older than the last one is refused.
            --tile-packs installs the packs of regions instead of whole packages: shared packs are stored once.
            --update updates everything in the folder, each file in its installed group, language and format.
            Examples:
              packhorse install https://maps.example.com/offline/ --into ./maps
              packhorse install https://maps.example.com/offline/ EE LV --into ./maps --group terrain --language de --dry-run
              packhorse install ./data/catalog EE --into ./maps --public-key keys/catalog.pub
              packhorse install https://maps.example.com/offline/ EE LV --into ./maps --tile-packs --style streets
              packhorse install https://maps.example.com/offline/ --update --into ./maps
            """)

    @Argument(help: "The catalog's folder or its http(s) address.") var catalog: String
    @Argument(help: "Package ids.") var ids: [String] = []
    @Option(help: "The folder to install into.") var into: String?
    @Option(
        help: ArgumentHelp("A data group to install with the base map; may be repeated.", valueName: "group"))
    var group: [String] = []
    @Flag(help: "Install only the groups, without the base map.") var onlyGroups = false
    @Option(help: "The language of names in the tiles, if the catalog has it: de.") var language: String?
    @Option(help: "The format to install.") var format = "mbtiles"
    @Option(help: "The public key that must have signed the catalog: a file, or its text.") var publicKey: String?
    @Flag(help: "Install tile packs, which regions share, instead of whole packages.") var tilePacks = false
    @Option(help: ArgumentHelp("A style pack to install, styles/ID.zip; may be repeated.", valueName: "id"))
    var style: [String] = []
    @Flag(help: "Update everything that is installed in the folder.") var update = false
    @Flag(help: "Accept a catalog that is older than the last one.") var allowOlder = false
    @Flag(help: "Show what would be fetched; change nothing.") var dryRun = false
    @Flag(help: "Print the result as JSON.") var json = false

    func validate() throws {
        guard ids.isEmpty && style.isEmpty && !update || into != nil else {
            throw ValidationError("Give the folder: --into FOLDER.")
        }
        guard
            !update
                || ids.isEmpty && style.isEmpty && group.isEmpty && language == nil && !tilePacks && format == "mbtiles"
        else {
            throw ValidationError(
                "--update updates everything that is installed; omit ids, groups, language, format and styles.")
        }
        guard !tilePacks || format == "mbtiles" else {
            throw ValidationError("Tile packs have the format that their publisher chose; omit --format.")
        }
        guard !onlyGroups || !group.isEmpty else { throw ValidationError("--only-groups needs --group.") }
        if let twice = Self.firstRepeated(ids) ?? Self.firstRepeated(group) ?? Self.firstRepeated(style) {
            throw ValidationError("'\(twice)' is given twice.")
        }
    }

    private static func firstRepeated(_ names: [String]) -> String? {
        var seen: Set<String> = []
        return names.first { !seen.insert($0).inserted }
    }

    func run() async throws {
        let command = self
        try await Interruptible.run { try await command.work() }
    }

    private func work() async throws {
        let key = try SigningKeyOption.readPublic(publicKey)
        let source = try CatalogSource(catalog)
        guard let document = try await CatalogDocument.read(source, key: key) else {
            throw source.missingIndex
        }
        if document.isSigned, key == nil {
            Console.note("the catalog is signed; --public-key KEY verifies the signature")
        }
        let place = into.map { URL(filePath: $0, directoryHint: .isDirectory) }
        guard !ids.isEmpty || !style.isEmpty || update, let into, let place else {
            return try list(document.index, installed: place.map { try InstallFolder($0, isOnlyRead: true) })
        }
        // Checked before an unnecessary folder is created.
        let look = Installer(source: source, document: document, folder: try InstallFolder(place, isOnlyRead: true))
        let wishes = try update ? installed(look) : named
        for wish in wishes { try look.check(wish) }
        let folder = try InstallFolder(place, isOnlyRead: dryRun)
        var installer = Installer(source: source, document: document, folder: folder)
        let names = [source.name] + (document.provenKey.map { ["key:\($0)"] } ?? [])
        if !allowOlder { try folder.checkAge(document.index.sequence, of: names) }
        let downloads = DownloadMeter()
        installer.downloads = downloads
        let work = try await plan(wishes, installer)
        downloads.expect(work.reduce(0) { $0 + UInt64(max(0, $1.view.fetch)) })
        if !dryRun { try folder.noteAge(document.index.sequence, of: names) }
        var views: [InstallView] = []
        for one in work {
            try Task.checkCancellation()
            if !json { Console.result(one.view.line) }
            for note in one.notes { Console.note("\(one.view.file): \(note)") }
            if !dryRun { try await one.run { Console.note("\(one.view.file): \($0)") } }
            views.append(one.view)
        }
        if json { Console.result(try JSONText.pretty(views)) }
        let total = Units.bytes(UInt64(views.reduce(0) { $0 + max(0, $1.fetch) }))
        Console.note(
            dryRun
                ? "\(total) to fetch into '\(into)'; nothing was changed"
                : "installed into '\(into)'; \(total) were needed")
    }

    /// One object to install.
    private struct Work {
        let view: InstallView
        var notes: [String] = []
        let run: (_ report: (String) -> Void) async throws -> Void
    }

    /// The requested objects: the base map and the groups of each id, then the styles.
    private var named: [InstallWish] {
        let groups: [String?] = (onlyGroups ? [] : [nil]) + group.map(Optional.some)
        let packages = ids.flatMap { id in
            groups.map { group in
                tilePacks
                    ? InstallWish.packs(id, group: group, language: language)
                    : .package(id, group: group, language: language, format: format)
            }
        }
        return packages + style.map(InstallWish.style)
    }

    /// The installed objects that are in the catalog.
    ///
    /// A message names the others, which are not changed.
    ///
    /// - Throws: ``CLIError`` 66 when nothing is installed.
    private func installed(_ look: Installer) throws -> [InstallWish] {
        let all = try InstallWish.installed(in: look.folder)
        guard !all.isEmpty else {
            throw CLIError(
                .noInput, "nothing is installed in '\(look.folder.folder.path)'",
                hint: "give the ids to install: packhorse install '\(catalog)' ID --into '\(into ?? "FOLDER")'")
        }
        return all.filter { wish in
            let isThere = wish.isThere(in: look.document.index)
            if !isThere { Console.note("the catalog has no \(wish.name); the installed files are unchanged") }
            return isThere
        }
    }

    /// The steps for all objects.
    ///
    /// Changes nothing.
    private func plan(_ wishes: [InstallWish], _ installer: Installer) async throws -> [Work] {
        var work: [Work] = []
        var planned: [InstallFolder.Packs] = []
        for wish in wishes {
            switch wish {
            case .package(let id, let group, let language, let format):
                let step = try await installer.step(id, group: group, language: language, format: format)
                work.append(
                    Work(view: InstallView(step), notes: step.notes(asked: language)) {
                        try await installer.run(step, $0)
                    })
            case .packs(let id, let group, let language):
                let step = try await installer.packStep(id, group: group, language: language, planned: planned)
                planned.append(step.region)
                // The packs of an earlier region exist by then.
                work.append(
                    Work(view: InstallView(step)) { _ in
                        try await installer.run(try await installer.packStep(id, group: group, language: language))
                    })
            case .style(let id):
                let step = try await installer.styleStep(id)
                work.append(Work(view: InstallView(step)) { _ in try await installer.run(step) })
            }
        }
        return work
    }
}
