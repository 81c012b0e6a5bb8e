internal import Errors
internal import Files
internal import Foundation

/// What is found when a store is opened for work: rows, files, and what does not fit together.
struct StoreOpening: Sendable {
    var database: StoreDatabase
    /// `nil` when the database was not damaged.
    var repair: StoreRepair.Report?
    var rows: StoreRows
    var units: [StoredUnit]
    /// Files at their place that no row names.
    var prepared: [StoredUnit] = []
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
        (rows, units) = try database.load()
        guard !database.isNewer else { return }
        try PieceWork.giveBack(folder)
        let paths = Set(units.map(\.row.path))
        for path in StoreScan.packs(folder) where !paths.contains(path) { try Self.giveBack(pack: path, folder) }
        for stray in StoreScan.strays(folder) { try Durable.remove(stray) }
        let known = Set(units.map(\.file))
        let homes = Set(paths.compactMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } })
        prepared = StoreScan.units(folder, besides: homes).units.filter {
            !known.contains($0.file) && !paths.contains($0.row.path)
        }
        parts = StoreScan.parts(folder)
        missing = units.filter { unit in folder.place(of: unit.row).map { access($0.path, F_OK) != 0 } ?? true }
            .map(\.file)
        requests = try database.openRequests()
        try database.dropOldAnswers()
        free = try Durable.freeBytes(folder.root)
        if free > StoreMachine.diskMargin { StoreReserve.make(folder) }
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
        guard let address = options.catalog.map({ CatalogAddress($0).folder.absoluteString }) else { return }
        if let known = try database.catalogAddress(), known != address { try database.dropOffers() }
    }

    /// A pack without a row becomes a part file again when its name has its digest; otherwise it is removed.
    private static func giveBack(pack path: String, _ folder: StoreFolder) throws {
        guard let file = folder.file(path) else { return }
        let name = file.deletingPathExtension().lastPathComponent
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
