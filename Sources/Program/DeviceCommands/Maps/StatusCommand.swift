import ArgumentParser
internal import CommandSupport
internal import Foundation
import OfflineMaps
internal import TextFormats

/// `packhorse device status`.
struct DeviceStatusCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show what a store takes on disk, and how its items are.",
        discussion: """
            Uses the last catalog of the store; it needs no network.
            Examples:
              packhorse device status --store ./maps
              packhorse device status EE --store ./maps --json
            """)

    @OptionGroup var items: ItemArguments
    @OptionGroup var store: StoreArguments
    @Flag(help: "Print the result as JSON.") var json = false

    func work() async throws {
        let store = try await DeviceStore.openExisting(store)
        let named = try await store.items()
        var shown = items.isEmpty ? named : try items.items(among: named)
        if items.isEmpty {
            shown += try await store.regions().map(Item.region).filter { !named.contains($0) }
        }
        var views: [StatusView] = []
        for item in shown { views.append(try await StatusView(item, in: store)) }
        let usage = try await store.usage()
        if json {
            Console.result(try JSONText.pretty(StoreView(items: views, usage: usage)))
        } else {
            var table = Table("item", "version", "offered", "state", "task")
            for view in views {
                table.add(
                    view.item.words, view.version.map { "\($0)" } ?? "-", view.offered.map { "\($0)" } ?? "-",
                    view.state, view.task.map { "\($0.kind): \($0.state)" } ?? "-")
            }
            table.lines.forEach(Console.result)
            if items.isEmpty { usage.lines.forEach(Console.result) }
        }
        let failed = try await DeviceProblems.failedTasks(of: items.isEmpty ? nil : shown, in: store)
        try await DeviceProblems.warn(of: shown, failed, in: store)
    }
}

/// A store as printed.
struct StoreView: Encodable {
    let items: [StatusView]
    let usage: Usage
}

/// The status of an item as printed.
struct StatusView: Encodable {
    let item: Item
    let version: Int32?
    let offered: Int32?
    /// `current`, `outdated`, `damaged` or `missing`; of a region also the states of `RegionState`.
    let state: String
    /// The files that are not at their places.
    let missingFiles: [String]
    let missingGroups: [String]
    let task: TaskView?

    init(_ item: Item, in store: MapStore) async throws {
        let status = try await store.status(of: item) ?? Status()
        let region: RegionInfo? = if case .region(let id) = item { try await store.region(id) } else { nil }
        self.item = item
        (version, offered) = (item.hasVersion ? status.installed?.version : nil, status.offered?.version)
        (missingFiles, missingGroups) = (status.missingFiles.map(\.path), status.missingGroups)
        task = status.task.map(TaskView.init)
        state =
            if !status.missingFiles.isEmpty {
                "missing"
            } else if let region, region.state != .complete {
                region.state.rawValue
            } else if status.isDamaged {
                "damaged"
            } else {
                status.installed == nil ? "missing" : status.isOutdated ? "outdated" : "current"
            }
    }
}

extension Usage {
    /// The lines for people; kinds without bytes are left out.
    var lines: [String] {
        let kinds = [
            ("packages", packages), ("tile packs", packs), ("styles", styles), ("adopted", adopted),
            ("downloads", parts), ("previous", previous), ("viewed", ambient),
        ]
        let parts = kinds.filter { $0.1 > 0 }.map { "\($0.0) \(Units.bytes($0.1))" }.joined(separator: ", ")
        let limit = quota.map { " of \(Units.bytes($0))" } ?? ""
        return [
            "on disk \(Units.bytes(total))\(limit)\(parts.isEmpty ? "" : ": \(parts)"); \(Units.bytes(free)) free",
            "tile packs \(packCount) of \(packLimit), single tiles \(onlineTiles) of \(onlineTileLimit)",
        ]
    }
}
