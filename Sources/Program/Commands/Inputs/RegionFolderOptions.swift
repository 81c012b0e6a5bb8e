import ArgumentParser
internal import CommandSupport
import Errors
import Foundation
import Regions

/// The folder of imported regions, in addition to the embedded tree.
struct RegionFolderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Folder of imported regions. Default: $PACKHORSE_REGIONS, else ~/.config/packhorse/regions.",
            valueName: "folder"))
    var regionsFolder: String?

    /// The folder, whether it exists or not.
    var folder: URL {
        if let regionsFolder { return URL(filePath: regionsFolder, directoryHint: .isDirectory) }
        if let named = Variable.value("PACKHORSE_REGIONS") { return URL(filePath: named, directoryHint: .isDirectory) }
        let home = Variable.value("HOME") ?? "/"
        return URL(filePath: home, directoryHint: .isDirectory).appending(path: ".config/packhorse/regions")
    }

    /// The embedded tree, extended and overridden by the imports.
    var tree: RegionTree {
        get throws {
            guard !FileKind.isThere(folder) || FileKind.isFolder(folder) else {
                throw CLIError(
                    .noInput, "'\(folder.path)' is a file; imported regions need a folder",
                    hint: "correct --regions-folder or PACKHORSE_REGIONS")
            }
            return try RegionTree.load(imports: folder)
        }
    }
}
