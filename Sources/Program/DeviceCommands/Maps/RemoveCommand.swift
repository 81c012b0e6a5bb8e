import ArgumentParser
internal import CommandSupport
import Errors
import OfflineMaps
internal import TextFormats

/// `packhorse device remove`.
struct DeviceRemoveCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove installed packages, tile packs and styles.",
        discussion: """
            Removes an id with its groups, formats and tile packs. Tile packs that another installed item needs stay.
            No catalog and no network are needed. The space is free when the command ends.
            Examples:
              packhorse device remove EE --store ./maps --dry-run
              packhorse device remove EE LV --group terrain --store ./maps
              packhorse device remove --style streets --store ./maps
            """)

    @OptionGroup var items: ItemArguments
    @Flag(help: "Show what would be removed; change nothing.") var dryRun = false
    @OptionGroup var store: StoreArguments
    @OptionGroup var wait: WaitArguments

    func validate() throws {
        guard !items.isEmpty else { throw ValidationError("Give package ids to remove, or --style ID.") }
    }

    func work() async throws {
        let store = try await DeviceStore.openExisting(store)
        let installed = try await store.installed()
        let named = try items.items(among: try await store.items())
        if dryRun {
            let removed = installed.filter { named.contains($0.item) }
            if wait.progress.json { return Console.result(try JSONText.pretty(removed)) }
            for one in removed {
                let version = one.item.hasVersion ? "  version \(one.version)" : ""
                Console.result("\(one.item.words)\(version)  \(Units.bytes(one.ownBytes))")
            }
            for item in named where !removed.contains(where: { $0.item == item }) {
                Console.result("\(item.words)  its file is missing")
            }
            return Console.note(
                "would free \(Units.bytes(removed.reduce(0) { $0 + $1.ownBytes })); nothing was changed")
        }
        try await wait.run(store) { try await store.remove(named) }
    }
}

/// `packhorse device rollback`.
struct DeviceRollbackCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "rollback", abstract: "Go back to the version before; it must have been kept.",
        discussion: """
            packhorse device quota --previous 1 keeps the version before each update.
            Example: packhorse device rollback EE --store ./maps
            """)

    @OptionGroup var items: ItemArguments
    @OptionGroup var store: StoreArguments
    @OptionGroup var wait: WaitArguments

    func validate() throws {
        guard !items.isEmpty else { throw ValidationError("Give package ids, or --style ID.") }
    }

    func work() async throws {
        let store = try await DeviceStore.openExisting(store)
        let installed = try await store.installed()
        let named = try items.items(among: installed.map(\.item))
        // An id also names its groups and formats; those without an earlier version stay as they are.
        let kept = installed.filter { one in
            named.contains(one.item) && one.files.contains { $0.state == .previous }
        }.map(\.item)
        guard !kept.isEmpty else {
            throw CLIError(
                .noInput, "no earlier version of \(named.map { "'\($0.words)'" }.joined(separator: ", ")) was kept",
                hint: "packhorse device quota --previous 1 keeps the version before each update")
        }
        try await wait.run(store) {
            var ids: [TaskID] = []
            for item in kept { ids.append(try await store.rollback(item)) }
            return ids
        }
    }
}
