import ArgumentParser
import Foundation
import Regions

/// Where imported regions are kept; the embedded tree is always there.
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

    /// The embedded tree with the imports laid over it.
    var tree: RegionTree {
        get throws {
            guard !FileKind.isThere(folder) || FileKind.isFolder(folder) else {
                throw CLIError(
                    .noInput, "'\(folder.path)' is a file; imported regions lie in a folder",
                    hint: "correct --regions-folder or PACKHORSE_REGIONS")
            }
            return try RegionTree.load(imports: folder)
        }
    }
}
