internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import PMTiles
internal import PackageFiles
internal import SQLiteFiles
internal import StyleFormat
internal import TextFormats
internal import Tiles

/// Takes files of the device into the folder of a store: finds out their kinds, checks them, and copies them into part files.
///
/// It blocks and changes nothing of what is installed. The caller then prepares each file as a download and makes it
/// current. A file that is to be moved is moved last: ``removeSources()``.
struct Adopter: Sendable {
    let folder: StoreFolder
    let way: Adoption
    /// Whether another file that is installed for an item is replaced.
    let replacing: Bool
    /// The current file of a key, which gives the next version.
    let current: @Sendable (InstalledFileKey) -> InstalledFile?
    var adopted: [Adopted] = []
    /// What of the files was passed over, for people.
    private(set) var remarks: [String] = []
    /// Files to remove when everything is durable.
    private(set) var sources: [URL] = []

    init(
        folder: StoreFolder, way: Adoption, replacing: Bool = false,
        current: @escaping @Sendable (InstalledFileKey) -> InstalledFile?
    ) {
        (self.folder, self.way, self.replacing, self.current) = (folder, way, replacing, current)
    }

    /// Takes a file.
    ///
    /// - Parameter item: What it becomes; `nil` gives a package or a style with the name of the file.
    /// - Throws: `bad-file` naming what the file is; `invalid-arguments` when the item is of another kind; `disk-full`,
    ///   `storage`.
    mutating func add(_ file: URL, as item: Item?) throws(StoreError) {
        let name = file.deletingPathExtension().lastPathComponent
        if try Self.isStyleArchive(file) { return try addStyle(file, as: item ?? .style(name)) }
        let kind = try Self.kind(file)
        switch kind {
        case .mbtiles: try addTiles(file, as: item ?? .package(name), format: .mbtiles)
        case .pmtiles: try addTiles(file, as: item ?? .package(name, Edition(), .pmtiles), format: .pmtiles)
        case .maplibre: try addTiles(file, as: item ?? .package(name, Edition(), .maplibre), format: .maplibre)
        case .geoPackage, .tree, .other:
            throw StoreError.failing(
                .badFile,
                "'\(file.path)' is \(kind.words). The store takes MBTiles files, PMTiles archives, MapLibre databases, "
                    + "and archives of style packs.", advice: kind.remedy(file.path))
        }
    }

    /// Whether a file that is there is an archive of a style.
    ///
    /// - Throws: `bad-file` for one that is missing, a folder, or changed by another program.
    static func isStyleArchive(_ file: URL) throws(StoreError) -> Bool {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder) else {
            throw StoreError.failing(.badFile, "'\(file.path)' does not exist.")
        }
        guard !isFolder.boolValue else { throw StoreError.failing(.badFile, "'\(file.path)' is a folder.") }
        if AnySQLiteFile.hasChanges(file, "-wal") {
            throw StoreError.failing(
                .badFile, "'\(file.path)' was not closed: the file '\(file.lastPathComponent)-wal' has changes of it.",
                advice: "Close the program that writes it, or run: \(AnySQLiteFile.closingCommand(file.path))")
        }
        return StoredZip.looksLikeZip(file)
    }

    /// The kind of a file.
    ///
    /// - Throws: `bad-file` for one that cannot be read.
    static func kind(_ file: URL) throws(StoreError) -> ArchiveKind {
        do { return try ArchiveKind.of(file) } catch {
            throw StoreError.failing(.badFile, (error as? any CodedError)?.message ?? "\(error)", below: error)
        }
    }

    /// Removes the files that were to be moved; call it when the store has them durably.
    func removeSources() throws(StoreError) {
        do throws(StorageError) { for file in sources { try Durable.remove(file) } } catch {
            throw .storage(error, "A file that was moved into the store cannot be removed from its old place.")
        }
    }

    private mutating func addTiles(_ file: URL, as item: Item, format: Format) throws(StoreError) {
        guard case .package(let id, let edition, let wanted) = item, wanted == format || wanted == .mbtiles else {
            throw StoreError(
                .invalidArguments,
                "'\(file.path)' is a file in the format \(format.name), so it cannot be '\(item.key)'.")
        }
        let found: TileFileFacts
        do {
            found =
                switch format {
                case .pmtiles: try facts(try PMTilesArchive(path: file.path, ArchiveAccess()), file)
                case .maplibre: try TileFileFacts(maplibre: file)
                default: try facts(try MBTilesArchive(path: file.path, ArchiveAccess()), file)
                }
        } catch let error as StoreError { throw error } catch {
            let error = ArchiveError(reading: error, file.path)
            throw StoreError.failing(.badFile, Sentence.unreadable(file.path, error.message), below: error)
        }
        let owner = Item.package(id, edition, format)
        let installed = InstalledFile(
            id: Self.id(owner), item: owner, path: "", bytes: 0, format: format, mask: found.mask, zooms: found.zooms,
            template: found.template, attribution: found.attribution, hasUnusable: found.hasUnusable)
        let regions = format == .maplibre ? try MapLibreRegions.read(file) : []
        try adopt(file, installed, name: StoreFolder.component(id) + format.fileExtension, regions: regions)
    }

    /// The facts of an archive that is not damaged; tiles that every reader passes over are none of it.
    private mutating func facts(_ archive: any TileArchive, _ file: URL) throws -> TileFileFacts {
        let listed = try TileFileFacts.places(archive, file)
        let passedOver = try check(file)
        var facts = try TileFileFacts(archive, file, tiles: listed.filter { !passedOver.contains($0) })
        facts.hasUnusable = !passedOver.isEmpty
        return facts
    }

    /// Refuses a file that is damaged, or has no tile that can be used.
    ///
    /// It reads every byte and unpacks every different body, as `packhorse verify` does (docs/decisions/0077 has what it
    /// takes), because an adopted file cannot be downloaded again when a map meets the damage.
    ///
    /// - Returns: The tiles that are passed over.
    private mutating func check(_ file: URL) throws(StoreError) -> Set<TileID> {
        let found: FileProbe.Findings
        var passedOver: Set<TileID> = []
        do { found = try FileProbe.findings(in: file) { passedOver.insert($0) } } catch {
            let message = (error as? any CodedError)?.message ?? "\(error)"
            throw StoreError.failing(.badFile, Sentence.unreadable(file.path, message), below: error)
        }
        if let damage = found.damage {
            throw StoreError.failing(
                .badFile, "'\(file.path)' is damaged: \(damage)", advice: "Download or build it again.")
        }
        if let remark = found.remark { remarks.append("'\(file.path)': \(remark)") }
        return passedOver
    }

    private mutating func addStyle(_ file: URL, as item: Item) throws(StoreError) {
        guard case .style(let id) = item else {
            throw StoreError(
                .invalidArguments, "'\(file.path)' is an archive of a style, so it cannot be '\(item.key)'.")
        }
        let scratch = folder.parts.appending(path: ".style-\(UUID().uuidString)", directoryHint: .isDirectory)
        do {
            try Durable.makeFolder(scratch)
            // A folder that stays is removed when the store is opened.
            defer { try? FileInstaller.removeFolder(scratch) }
            try StoredZip.unpack(file, into: scratch)
            _ = try StylePack(scratch).style()
        } catch let error as StorageError {
            throw .storage(error, "'\(file.path)' cannot be unpacked.")
        } catch let error as StylesError {
            if error.code == .diskFull { throw StoreError(.diskFull, error.message, cause: error, isRetriable: true) }
            throw .failing(
                .badFile, "'\(file.path)' is no archive of a style pack: \(Sentence.inner(error.message))", below: error
            )
        } catch { throw FileInstaller.storeError(error, "'\(file.path)' cannot be unpacked.") }
        let installed = InstalledFile(
            id: Self.id(.style(id)), item: .style(id), path: "", bytes: 0, format: .styleArchive)
        try adopt(file, installed, name: "style.zip", regions: [])
    }

    /// The name of a file whose version and digest are not known yet.
    private static func id(_ item: Item) -> FileID {
        FileID(key: InstalledFileKey(name: item.key, isPack: false), version: 0, digest: "")
    }

    /// The refusal of a file for an item that has another one.
    private static func isInstalled(_ old: InstalledFile, _ file: URL) -> StoreError {
        StoreError(
            .installed,
            "'\(file.path)' cannot be taken as '\(old.item.identifier)': "
                + (old.isAdopted ? "another file was adopted under this name" : "the catalog's is installed") + ".",
            advice: "Give the file another id (--id), or replace what is installed (--replace).")
    }

    /// Makes the part file of a file, and completes its record.
    private mutating func adopt(
        _ file: URL, _ installed: InstalledFile, name: String, regions: [AdoptedRegion]
    ) throws(StoreError) {
        var installed = installed
        let place: Adopted.Place
        do throws(StorageError) {
            (place, installed.id.digest, installed.bytes) = try makePart(of: file)
        } catch { throw .storage(error, "'\(file.path)' cannot be taken into the store.") }
        let old = current(installed.id.key)
        if let old, !replacing, old.sha256 != installed.sha256,
            !(place == .outside && old.path == file.absoluteURL.path)
        {
            if place == .part { removePart(Adopted(file: installed, place: place)) }
            throw Self.isInstalled(old, file)
        }
        // The same file again keeps its version.
        installed.id.version = old.map { $0.sha256 == installed.sha256 ? $0.version : $0.version &+ 1 } ?? 1
        let home = folder.unit(
            .adopted, installed.item.edition, id: installed.item.identifier, version: installed.version,
            sha256: installed.sha256)
        installed.path =
            place == .outside ? file.absoluteURL.path : folder.relative(home.appending(path: name)) ?? ""
        adopted.append(Adopted(file: installed, place: place, regions: regions))
    }

    /// Copies a file into a part file, or gives it a second name there; a file that stays where it is gets no part file.
    ///
    /// - Returns: Where the bytes are now, their digest, and the size that counts towards the quota.
    private mutating func makePart(
        of file: URL
    ) throws(StorageError) -> (Adopted.Place, sha256: String, bytes: UInt64) {
        if way == .link {
            return (.outside, try OutsideFileStamp(file).digest, 0)
        }
        let temporary = folder.parts.appending(path: ".adopt-\(UUID().uuidString)")
        // The name of a moved file stays until the store has it: a second name costs no byte.
        if way != .move || link(file.path, temporary.path) != 0 { try FileCopy.copy(file, to: temporary) }
        if way == .move { sources.append(file) }
        do throws(StorageError) {
            // Of the copy: the file itself may still change.
            let (digest, size) = try Digest.ofFile(temporary)
            guard let part = folder.part(sha256: digest.hex) else {
                throw StorageError(.io, "'\(file.path)' has no place in the store.")
            }
            try Durable.rename(temporary, to: part)
            return (.part, digest.hex, size)
        } catch {
            unlink(temporary.path)
            throw error
        }
    }
}

/// How a file that was adopted where it is, is recognized: by its path, size and time of change.
///
/// Not by its number: the files of a card get other numbers when it is put in again.
struct OutsideFileStamp: Hashable {
    var size: UInt64
    var digest: String

    init(_ file: URL) throws(StorageError) {
        var status = stat()
        guard stat(file.path, &status) == 0 else {
            throw StorageError.system(errno, action: "inspect", path: file.path)
        }
        size = UInt64(max(0, status.st_size))
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        let text = "\(file.absoluteURL.path)|\(size)|\(time.tv_sec).\(time.tv_nsec)"
        digest = Digest(of: Array(text.utf8)).hex
    }
}
