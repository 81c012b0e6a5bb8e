internal import Digests
internal import Errors
internal import Files
internal import Foundation

/// What is found when a store is opened for work: rows, files, and what does not fit together.
struct StoreOpening: Sendable {
    var database: StoreDatabase
    /// `nil` when the database was not damaged.
    var repair: StoreRepair.Report?
    var rows: StoreRows
    /// Files at their place that no row names.
    var prepared: [InstalledFile] = []
    var parts: [String: UInt64] = [:]
    var free: UInt64 = 0
    /// Files of rows that are missing.
    var missing: [FileID] = []
    var requests: [(id: RequestID, request: Request)] = []

    /// Opens the database, puts the files of interrupted work back, and lists what is there.
    ///
    /// For the process that holds the lock; it blocks.
    ///
    /// - Parameter isNamed: Whether the app has just named its options; otherwise those of the rows count.
    init(_ folder: StoreFolder, _ options: StoreOptions, isNamed: Bool) throws {
        let (database, repair) = try StoreRepair.open(folder)
        self.database = database
        self.repair = repair
        if !database.isNewer { try Self.apply(options, isNamed: isNamed, to: database) }
        rows = try database.rows()
        guard !database.isNewer else { return }
        try countStyles(folder)
        try FileInstaller.giveBack(folder)
        let paths = Set(rows.files.values.map(\.path))
        for path in StoreScan.packs(folder) where !paths.contains(path) { try Self.giveBack(pack: path, folder) }
        // Folders too: a style that was being looked at is unpacked in one.
        for stray in StoreScan.strays(folder) { try FileInstaller.removeFolder(stray) }
        for draft in StoreScan.reserveDrafts(folder) { try Durable.remove(draft) }
        let homes = Set(paths.compactMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } })
        let found = StoreScan.units(folder, besides: homes)
        for path in found.refused { try Self.removeRest(of: path, paths, folder) }
        prepared = found.files.filter { rows.files[$0.id] == nil && !paths.contains($0.path) }
        parts = StoreScan.parts(folder)
        missing = rows.files.values.filter { installed in
            folder.place(of: installed).map { access($0.path, F_OK) != 0 } ?? true
        }
        .sorted { ($0.order, $0.id) < ($1.order, $1.id) }.map(\.id)
        requests = try database.openRequests()
        try database.dropOldAnswers()
        free = try Durable.freeBytes(folder.root)
        if free > StoreMachine.diskMargin { StoreReserve.make(folder) }
    }

    /// Counts styles with their files as they are: a reader has unpacked one again, or an earlier version did not count
    /// them.
    private mutating func countStyles(_ folder: StoreFolder) throws {
        var changes: [Change] = []
        for var installed in rows.files.values where installed.format == .styleArchive {
            guard let bytes = folder.file(installed.path).map(StyleFiles.bytes), bytes != installed.bytes, bytes > 0
            else { continue }
            installed.bytes = bytes
            changes.append(.file(installed))
        }
        if !changes.isEmpty { try database.apply(changes) }
        for change in changes { rows.apply(change) }
    }

    /// The options of the app count when they are not those that it named the last time.
    private static func apply(_ options: StoreOptions, isNamed: Bool, to database: StoreDatabase) throws {
        if isNamed {
            var named = StoreSettings()
            (named.quota, named.networkRule) = (options.quota, options.networkRule)
            if try database.optionsOfLastOpen() != named {
                var settings = try database.rows().settings
                (settings.quota, settings.networkRule) = (options.quota, options.networkRule)
                try database.apply([.settings(settings)])
                try database.noteOptions(named)
            }
        }
        // A list that needed no signature does not count for an app that names keys.
        let keys = options.trust.keys
        let known = Set(try database.trustedKeys() ?? [])
        if !keys.isEmpty, known.isEmpty || !known.isSubset(of: keys) { try database.dropOffers() }
        if known != keys { try database.noteTrustedKeys(keys) }
        guard let address = options.catalog.map({ CatalogAddress($0).folder.absoluteString }) else { return }
        if let known = try database.catalogAddress(), known != address { try database.dropOffers() }
    }

    /// Removes a folder of a file whose file is gone and that no row names: its removal was interrupted.
    private static func removeRest(of document: String, _ paths: Set<String>, _ folder: StoreFolder) throws {
        guard let home = folder.file(document)?.deletingLastPathComponent(), let place = folder.relative(home),
            try FileManager.default.contentsOfDirectory(atPath: home.path) == [InstalledFileDocument.name],
            !paths.contains(where: { $0.hasPrefix(place + "/") })
        else { return }
        try FileInstaller.removeFolder(home)
        Durable.removeEmptyFolders(of: [home], upTo: folder.root)
    }

    /// A pack without a row becomes a part file again when its name has its digest; otherwise it is removed.
    private static func giveBack(pack path: String, _ folder: StoreFolder) throws {
        guard let file = folder.file(path) else { return }
        let name = file.deletingPathExtension().lastPathComponent
        // A pack that cannot be read is removed.
        if let digest = try? Digest.ofFile(file).digest.hex, digest.hasPrefix(name), name.count == 16,
            let part = folder.part(sha256: digest), access(part.path, F_OK) != 0
        {
            try Durable.rename(file, to: part)
        } else {
            try Durable.remove(file)
        }
        Durable.removeEmptyFolders(of: [file], upTo: folder.root)
    }
}

extension Trust {
    /// The keys of which one must have signed; none without a signature.
    fileprivate var keys: Set<String> { if case .keys(let keys) = self { Set(keys) } else { [] } }
}
