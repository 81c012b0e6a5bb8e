import ArgumentParser
internal import CommandSupport
import Errors
import Foundation
import OfflineMaps

/// `packhorse device style`.
struct DeviceStyleCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "style", abstract: "Print an installed style for a renderer that reads files by their paths.",
        discussion: """
            The map has an address mbtiles:// (or pmtiles://) with today's path; sprites and glyphs are files. Print it again
            after an update. Sources that are not installed keep the address of their server.
            Example: packhorse device style streets --of EE --store ./maps
            """)

    @Argument(help: "The id of the style.") var id: String
    @Option(help: ArgumentHelp("The installed package that is drawn.", valueName: "id")) var of: String
    @Option(help: "The format of the package.") var format = "mbtiles"
    @OptionGroup var store: StoreArguments

    func work() async throws {
        let store = try await DeviceStore.openExisting(store)
        let items = try await store.installed().map(\.item)
        let item = items.first { item in
            guard case .package(let id, let edition, let kind) = item else { return false }
            return id == of && edition.group == nil && kind == Format(format)
        }
        guard let item else {
            throw CLIError(
                .noInput, "the package '\(of)' is not installed as \(format)",
                hint: "list what is installed: packhorse device list --installed")
        }
        Console.result(String(decoding: try store.resources.style(id, .files(of: item)), as: UTF8.self))
    }
}
