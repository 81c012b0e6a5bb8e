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
    /// Files of rows that are not at their places, and files that were missing before and are there again.
    var lost: [FileID] = []
    var returned: [FileID] = []
    /// What belongs to nothing and could not be cleared, and files that may not be read.
    var left: [Finding] = []
    /// How far the tasks were when an earlier process worked on them.
    var works: [TaskID: TaskWork] = [:]
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
        var cleaning = StoreCleaning(folder)
        let (files, missing) = (Array(rows.files.values) + rows.damaged, rows.missing)
        cleaning.giveBackUnfinished()
        cleaning.giveBackPacks(besides: Set((files + missing).map(\.path)))
        cleaning.removeStrays()
        prepared = cleaning.rowless(besides: files + missing)
        parts = StoreScan.parts(folder)
        lost = cleaning.missing(of: files)
        returned = missing.filter { StoreVerify.isBack($0, in: folder) }.map(\.id)
        left = cleaning.left
        works = try database.works()
        requests = try database.openRequests()
        try database.dropOldAnswers()
        // A disk that cannot be measured counts as full until it can.
        free = (try? Durable.freeBytes(folder.root)) ?? 0
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
}

extension Trust {
    /// The keys of which one must have signed; none without a signature.
    fileprivate var keys: Set<String> { if case .keys(let keys) = self { Set(keys) } else { [] } }
}
