import ArgumentParser
internal import CommandSupport
import OfflineMaps
internal import TextFormats

/// `packhorse device watch`.
struct DeviceWatchCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Print what happens in a store until Ctrl-C.",
        discussion: """
            Also does the tasks of the queue while no other process does.
            Example: packhorse device watch --store ./maps --json
            """)

    @OptionGroup var store: StoreArguments
    @Flag(help: "Print each event as a JSON object in one line.") var json = false

    func work() async throws {
        let opened = try await DeviceStore.openExisting(store)
        // The process that holds the store does the work that other commands ask for.
        try await opened.start()
        do {
            try await EventPrinter.run(opened, json: json)
        } catch {
            await opened.stop()
            throw error
        }
    }
}

/// Prints the events of a store.
enum EventPrinter {
    /// Prints events until the task is cancelled.
    static func run(_ store: MapStore, json: Bool) async throws {
        for await event in store.events {
            let view = EventView(event)
            Console.result(json ? try JSONText.line(view) : view.line)
        }
        try Task.checkCancellation()
    }
}

/// An event as printed.
struct EventView: Encodable {
    let event: String
    var item: Item?
    var version: Int32?
    var task: TaskView?
    var cause: String?
    var bytes: UInt64?
    private let text: String

    private enum CodingKeys: String, CodingKey { case event, item, version, task, cause, bytes }

    init(_ event: StoreEvent) {
        switch event {
        case .catalogUpdated: (self.event, text) = ("catalog-updated", "the catalog was updated")
        case .catalogFailed(let cause):
            (self.event, self.cause, text) = ("catalog-failed", cause.rawValue, "the catalog failed: \(cause.words)")
        case .task(let task):
            let (state, reason) = task.state.words
            (self.event, self.task) = ("task", TaskView(task))
            text =
                "task \(task.id.number), \(task.words): \([state, reason].compactMap { $0 }.joined(separator: ": "))"
                + ", \(Int(task.progress.fraction * 100)) %"
        case .regions: (self.event, text) = ("regions", "the regions changed")
        case .installed(let item, let version, _):
            (self.event, self.item, self.version) = ("installed", item, version)
            text = "installed \(item.words), version \(version)"
        case .removed(let item):
            (self.event, self.item, text) = ("removed", item, "removed \(item.words)")
        case .evicted(let bytes):
            (self.event, self.bytes, text) = ("evicted", bytes, "removed \(Units.bytes(bytes)) for the quota")
        case .limitReached(let limit): (self.event, text) = ("limit-reached", Self.words(limit))
        case .damaged(let item):
            (self.event, self.item, text) = ("damaged", item, "\(item.words) is damaged")
        case .connectionLost: (self.event, text) = ("connection-lost", "the network was lost")
        case .connectionFound: (self.event, text) = ("connection-found", "the network is back")
        }
    }

    /// The event for people.
    var line: String { text }

    private static func words(_ limit: Limit) -> String {
        switch limit {
        case .tilePacks(let needed, let allowed): "\(needed) tile packs needed, \(allowed) allowed"
        case .onlineTiles(let needed, let allowed): "\(needed) single tiles needed, \(allowed) allowed"
        case .quota(let needed, let allowed):
            "\(Units.bytes(needed)) needed, the quota is \(Units.bytes(allowed))"
        }
    }
}
