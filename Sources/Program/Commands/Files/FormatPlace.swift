internal import CommandSupport
import Errors
import Foundation
import PackageFiles
import Packages

extension PackageFormat {
    /// Refuses an output that exists and may not be replaced: for a folder of tiles every other folder, for a file every folder.
    ///
    /// - Throws: ``CLIError`` 73.
    func checkName(_ url: URL, replacing: Bool) throws {
        guard isFolder else { return try OutputLocation.checkName(url, replacing: replacing) }
        guard FileKind.isThere(url) else { return }
        guard TileFolder.isOurs(url) else {
            throw CLIError(
                .cannotCreate,
                "'\(url.path)' exists and is no folder of tiles that Packhorse wrote; it is never replaced",
                hint: "remove it, or choose another output")
        }
        guard replacing else {
            throw CLIError(.cannotCreate, "'\(url.path)' exists already", hint: "use --force to replace it")
        }
        try FolderTarget.check(url, replacing: true)
    }
}
