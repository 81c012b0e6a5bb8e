import ArgumentParser
internal import CommandSupport
import Foundation
internal import TextFormats

/// `packhorse uninstall`: removes objects that `install` has installed.
struct UninstallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "uninstall", abstract: "Remove installed packages, tile packs and styles, as a device would.",
        discussion: """
            Removes an id with its groups and its tile packs. Packs of another installed region stay. No catalog is needed.
            Examples:
              packhorse uninstall EE --into ./maps --dry-run
              packhorse uninstall EE LV --into ./maps --group terrain
              packhorse uninstall --style streets --into ./maps
            """)

    @Argument(help: "Package ids.") var ids: [String] = []
    @Option(help: "The folder of the installation.") var into: String
    @Option(
        help: ArgumentHelp("Only this data group, not the base map; may be repeated.", valueName: "group"))
    var group: [String] = []
    @Option(help: ArgumentHelp("A style pack to remove; may be repeated.", valueName: "id")) var style: [String] = []
    @Flag(help: "Show what would be removed; change nothing.") var dryRun = false
    @Flag(help: FileList.help) var all = false
    @Flag(help: "Print the result as JSON.") var json = false

    func validate() throws {
        guard !ids.isEmpty || !style.isEmpty else {
            throw ValidationError("Give package ids to remove, or --style ID.")
        }
    }

    /// The removed objects, as printed.
    private struct View: Encodable {
        let file: String
        let size: UInt64
    }

    func run() async throws {
        let command = self
        try await Interruptible.run { try command.work() }
    }

    private func work() throws {
        let place = URL(filePath: into, directoryHint: .isDirectory)
        try FileKind.requirePath(place)
        // No folder is created for a wrong name.
        let look = try InstallFolder(place, isOnlyRead: true)
        var gone = try look.holdings(ids, groups: group, styles: style)
        var files = try look.files(of: gone).map { View(file: $0, size: look.size($0)) }
        if !dryRun {
            let folder = try InstallFolder(place)
            gone = try folder.holdings(ids, groups: group, styles: style)
            files = try folder.files(of: gone).map { View(file: $0, size: folder.size($0)) }
            try folder.remove(gone)
        }
        if json { return Console.result(try JSONText.pretty(files)) }
        let sum =
            "\(Units.count(files.count, of: "file")), \(Units.bytes(files.reduce(0) { $0 + $1.size })), from '\(into)'"
        FileList.print(files.map(\.file), sum: "\(dryRun ? "would remove" : "removed") \(sum)", all: all)
    }
}
