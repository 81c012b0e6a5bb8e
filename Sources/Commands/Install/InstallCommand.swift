import ArgumentParser
import Catalog
import Foundation

/// `packhorse install`: a client's side of a catalog.
struct InstallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install", abstract: "Install or update packages from a catalog, as a device would.",
        discussion: """
            Without an id, lists what the catalog has. What is there already is not fetched; an update is fetched as a patch when the
            installed version has one that is smaller than seven tenths of the whole file. Downloads go on where they were
            interrupted, are proven by SHA-256, and take the place of the old file at once. With --public-key nothing is believed
            that the key's holder did not sign; a catalog that is older than the one installed from before is refused.
            --tile-packs installs the packs of regions instead of whole packages: packs that regions share are there once.
            --update brings everything in the folder up to date, each in the group, language and format that it was installed in.
            Examples:
              packhorse install https://maps.example.com/offline/ --into ./maps
              packhorse install https://maps.example.com/offline/ EE LV --into ./maps --group terrain --language de --dry-run
              packhorse install ./data/catalog EE --into ./maps --public-key keys/catalog.pub
              packhorse install https://maps.example.com/offline/ EE LV --into ./maps --tile-packs --style streets
              packhorse install https://maps.example.com/offline/ --update --into ./maps
            """)

    @Argument(help: "The catalog's folder or its http(s) address.") var catalog: String
    @Argument(help: "Ids of packages.") var ids: [String] = []
    @Option(help: "The folder to install into.") var into: String?
    @Option(
        help: ArgumentHelp("A group of data to install with the base map; may be repeated.", valueName: "group"))
    var group: [String] = []
    @Flag(help: "Install the groups alone, without the base map.") var onlyGroups = false
    @Option(help: "The language of names in the tiles, where the catalog has it: de.") var language: String?
    @Option(help: "The format to install.") var format = "mbtiles"
    @Option(help: "The key that must have signed the catalog: a file, or its text.") var publicKey: String?
    @Flag(help: "Install tile packs, which regions share, instead of whole packages.") var tilePacks = false
    @Option(help: ArgumentHelp("A style pack to install, styles/ID.zip; may be repeated.", valueName: "id"))
    var style: [String] = []
    @Flag(help: "Bring everything that is installed in the folder up to date.") var update = false
    @Flag(help: "Accept a catalog that is older than the one installed from before.") var allowOlder = false
    @Flag(help: "Tell what would be fetched; change nothing.") var dryRun = false
    @Flag(help: "The result as JSON.") var json = false

    func validate() throws {
        guard ids.isEmpty && style.isEmpty && !update || into != nil else {
            throw ValidationError("Name the folder: --into FOLDER.")
        }
        guard
            !update
                || ids.isEmpty && style.isEmpty && group.isEmpty && language == nil && !tilePacks && format == "mbtiles"
        else {
            throw ValidationError(
                "--update takes what is installed as it is; leave ids, groups, language, format and styles out.")
        }
        guard !tilePacks || format == "mbtiles" else {
            throw ValidationError("Tile packs come in the format that their publisher chose; leave --format out.")
        }
        guard !onlyGroups || !group.isEmpty else { throw ValidationError("--only-groups needs --group.") }
        if let twice = Self.firstRepeated(ids) ?? Self.firstRepeated(group) ?? Self.firstRepeated(style) {
            throw ValidationError("'\(twice)' is named twice.")
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
            throw CLIError(
                .noInput, "'\(source.name)' has no catalog.json", hint: "a coordinator of this version writes one")
        }
        if document.isSigned, key == nil { Console.note("the catalog is signed; --public-key KEY would prove it") }
        let place = into.map { URL(filePath: $0, directoryHint: .isDirectory) }
        guard !ids.isEmpty || !style.isEmpty || update, let into, let place else {
            return try list(document.index, installed: place.map { try InstallFolder($0, isOnlyRead: true) })
        }
        // Before a folder is made for nothing.
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
                : "installed into '\(into)'; \(total) were to be fetched")
    }

    /// One thing to install.
    private struct Work {
        let view: InstallView
        var notes: [String] = []
        let run: (_ tell: (String) -> Void) async throws -> Void
    }

    /// What was named: the base map and the groups of each id, then the styles.
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

    /// What is installed there and in the catalog; what the catalog lacks is told and stays as it is.
    ///
    /// - Throws: ``CLIError`` 66 when nothing is installed there.
    private func installed(_ look: Installer) throws -> [InstallWish] {
        let all = try InstallWish.installed(in: look.folder)
        guard !all.isEmpty else {
            throw CLIError(
                .noInput, "nothing is installed in '\(look.folder.folder.path)'",
                hint: "name what to install: packhorse install '\(catalog)' ID --into '\(into ?? "FOLDER")'")
        }
        return all.filter { wish in
            let isThere = wish.isThere(in: look.document.index)
            if !isThere { Console.note("the catalog has no \(wish.name); what is installed stays as it is") }
            return isThere
        }
    }

    /// What is to be done for all of it; nothing is changed.
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
                // What a region before brings is there by then.
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
