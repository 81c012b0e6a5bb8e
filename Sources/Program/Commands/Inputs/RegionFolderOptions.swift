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
    ///
    /// - Throws: ``CLIError`` 66 for a file, and for a folder that the option names and that is missing; `RegionsError`.
    var tree: RegionTree {
        get throws {
            if regionsFolder != nil, !FileKind.isThere(folder) {
                throw CLIError(
                    .noInput, "the folder '\(folder.path)' does not exist",
                    hint: "correct --regions-folder; packhorse regions import makes a folder")
            }
            return try treeOfAnyFolder
        }
    }

    /// The same for a command that makes the folder: one that is missing has no imports.
    var treeOfAnyFolder: RegionTree {
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
