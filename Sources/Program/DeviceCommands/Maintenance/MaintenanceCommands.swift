import ArgumentParser
internal import CommandSupport
import Errors
import OfflineMaps
internal import TextFormats

/// `packhorse device verify`.
struct DeviceVerifyCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check that all files of a store are there and whole; change no file.",
        discussion: """
            All files are there, with their sizes; with --deep, with every byte. A damaged map stays and is noted as damaged: repair,
            install and update then download it again. Exit code 65 when something is wrong.
            Examples:
              packhorse device verify --store ./maps
              packhorse device verify --deep --store ./maps
            """)

    @OptionGroup var store: StoreArguments
    @Flag(help: "Read every byte and compare its digest.") var deep = false
    @Flag(help: "Print the result as JSON.") var json = false

    func work() async throws {
        let store = try await DeviceStore.openExisting(store)
        let findings = try await store.verify(deep: deep)
        try findings.show(
            json: json,
            empty: deep ? "nothing is wrong" : "all files are there, with their sizes; --deep also compares every byte")
        guard findings.isEmpty else {
            throw CLIError(
                .badData, "the store has \(Units.count(findings.count, of: "problem"))",
                hint:
                    "packhorse device repair downloads files again; bring back those that were adopted at their own places"
            )
        }
    }
}

/// `packhorse device repair`.
struct DeviceRepairCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "repair", abstract: "Download damaged and missing files again.",
        discussion: """
            Reads every byte. A damaged file goes back to its earlier version, if one was kept that is whole; otherwise it is downloaded
            again, and stays until the new one is here and whole. The server of the catalog has to answer first. A file that no catalog
            has stays: if it was adopted, put its card back in or adopt it again; otherwise remove its item.
            Exit code 65 when something is left that cannot be mended.
            Example: packhorse device repair --store ./maps
            """)

    @OptionGroup var store: StoreArguments
    @OptionGroup var wait: WaitArguments

    func work() async throws {
        let store = try await DeviceStore.openExisting(store)
        let follower = TaskFollower(store, wait.progress.style.progress)
        var findings = try await Self.repair(store)
        var problems: [TaskID: CLIError] = [:]
        if !wait.queue {
            for task in try await wait.end(of: Set(findings.compactMap(\.task)).sorted(), in: store, follower) {
                problems[task.id] = task.problem
            }
        }
        for (number, finding) in findings.enumerated() {
            if let task = finding.task, problems[task] != nil { findings[number].isMended = false }
        }
        try findings.show(json: wait.progress.json, empty: "nothing is wrong")
        if let problem = findings.lazy.compactMap({ $0.task.flatMap { problems[$0] } }).first { throw problem }
        let left = findings.count { !$0.isMended }
        guard left == 0 else {
            throw CLIError(
                .badData, "\(Units.count(left, of: "problem")) cannot be mended: the store has no other copy",
                hint: "bring the files back, adopt them again, or remove their items: packhorse device remove ID")
        }
    }
}

extension DeviceRepairCommand {
    private static func repair(_ store: MapStore) async throws -> [Finding] {
        do throws(StoreError) { return try await store.repair() } catch {
            guard error.code == .notInCatalog else { throw error }
            // Another program, for example an app with its own address, has made the store.
            throw CLIError(
                .noInput, error.message,
                hint: "name it, then repair: packhorse device update --catalog ADDRESS --public-key KEY")
        }
    }
}

extension [Finding] {
    /// Prints findings.
    fileprivate func show(json: Bool, empty: String) throws {
        if json { return Console.result(try JSONText.pretty(self)) }
        for finding in self {
            let item = finding.item.map { " (\($0.words))" } ?? ""
            let end = finding.isMended ? finding.task == nil ? "; mended" : "; downloaded again" : ""
            let isSentence = finding.problem.hasSuffix(".")
            let problem = end.isEmpty || !isSentence ? finding.problem : String(finding.problem.dropLast())
            Console.result("\(finding.path)\(item): \(problem)\(end)")
        }
        if isEmpty { Console.note(empty) }
    }
}

/// `packhorse device quota`.
struct DeviceQuotaCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "quota", abstract: "Show or set how much a store may hold.",
        discussion: """
            Without options it shows what the store takes. A limit that is not given stays as it is.
            Examples:
              packhorse device quota --store ./maps
              packhorse device quota --bytes 2GB --previous 1 --store ./maps
            """)

    @Option(
        help: ArgumentHelp("The most bytes of packages, packs and downloads: 2GB; none: no limit.", valueName: "size"))
    var bytes: String?
    @Option(help: ArgumentHelp("The most bytes of what was viewed: 50MB; 0 turns it off.", valueName: "size"))
    var viewed: String?
    @Option(help: "The most tile packs.") var packs: Int?
    @Option(help: "The most tiles that single requests may add.") var tiles: UInt64?
    @Option(help: "How many versions before the current one are kept, 0 to 2.") var previous: Int?
    @OptionGroup var store: StoreArguments
    @Flag(help: "Print the result as JSON.") var json = false

    func validate() throws {
        guard bytes == nil || bytes == "none" || bytes.flatMap(Units.size) != nil,
            viewed == nil || viewed.flatMap(Units.size) != nil
        else { throw ValidationError("Sizes are for example 500MB or 2GB.") }
        guard (0...2).contains(previous ?? 0) else { throw ValidationError("--previous must be 0, 1 or 2.") }
        guard packs ?? 0 >= 0 else { throw ValidationError("--packs must be at least 0.") }
    }

    private var isChange: Bool {
        bytes != nil || viewed != nil || packs != nil || tiles != nil || previous != nil
    }

    func work() async throws {
        let store = try await DeviceStore.openExisting(store)
        if isChange {
            var quota = try await store.quota()
            if let bytes { quota.bytes = bytes == "none" ? nil : Units.size(bytes) }
            if let viewed = viewed.flatMap(Units.size) { quota.ambientBytes = viewed }
            if let packs { quota.tilePacks = packs }
            if let tiles { quota.onlineTiles = tiles }
            if let previous { quota.previousVersions = previous }
            try await store.setQuota(quota)
        }
        let usage = try await store.usage()
        if json { return Console.result(try JSONText.pretty(usage)) }
        usage.lines.forEach(Console.result)
    }
}

/// `packhorse device groups`.
struct DeviceGroupsCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "groups",
        abstract: "Print or select the data groups that updates and later installations include.",
        discussion: """
            Without names it prints what is selected. packhorse device update installs the selected groups of installed packages.

            Examples:
              packhorse device groups --store ./maps
              packhorse device groups terrain contours --store ./maps
              packhorse device groups --none --store ./maps
            """)

    @Argument(help: "The names of the data groups, all that are to be selected.") var groups: [String] = []
    @Flag(name: .customLong("none"), help: "Select no group.") var selectsNone = false
    @OptionGroup var store: StoreArguments

    func validate() throws {
        guard groups.isEmpty || !selectsNone else { throw ValidationError("Give either names or --none.") }
    }

    func work() async throws {
        let store = try await DeviceStore.openExisting(store)
        guard selectsNone || !groups.isEmpty else {
            let selected = try await store.groups().sorted()
            if selected.isEmpty { return Console.note("no group is selected") }
            return selected.forEach(Console.result)
        }
        try await store.setGroups(Set(groups))
        Console.note(groups.isEmpty ? "no group is selected" : "selected: \(groups.joined(separator: ", "))")
    }
}
