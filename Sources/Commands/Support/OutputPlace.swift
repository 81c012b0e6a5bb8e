import Errors
import Foundation
import Shards

/// Where a command writes, looked at before it works: what cannot be created ends with 73 and costs nobody an hour.
enum OutputPlace {
    /// Refuses a place where no file can be written.
    ///
    /// - Parameters:
    ///   - replacing: Whether a file of that name may be replaced.
    ///   - inputs: Files that are read and must stay.
    ///   - hint: What to do about one that is there.
    /// - Throws: ``CLIError`` 64 for an input; 73 for a folder, a device, a file that must stay, and a folder above that is not there or may not
    ///   be written.
    static func checkFile(
        _ url: URL, replacing: Bool, inputs: [URL] = [], hint: String = "use --force to replace it"
    ) throws {
        if let input = inputs.first(where: { isSame($0, url) }) {
            throw CLIError(.usage, "'\(input.path)' is an input and cannot be the output", hint: "name another file")
        }
        try checkName(url, replacing: replacing, hint: hint)
        let folder = url.deletingLastPathComponent()
        guard FileKind.isFolder(folder) else {
            throw CLIError(
                .cannotCreate, "'\(url.path)' cannot be written: there is no folder '\(folder.path)'",
                hint: "make it first: mkdir -p '\(folder.path)'")
        }
        try tryFolder(of: url)
    }

    /// Makes a file beside the one that is to be written and removes it at once: permissions do not tell everything.
    ///
    /// - Throws: ``CLIError`` 73.
    static func tryFolder(of url: URL) throws {
        // mkstemp puts a name that is not taken in the place of the six letters.
        var name = Array(url.deletingLastPathComponent().appending(path: ".packhorse-XXXXXX").path.utf8CString)
        let file = mkstemp(&name)
        guard file >= 0 else {
            throw CLIError(
                .cannotCreate,
                "'\(url.path)' cannot be written into its folder: \(String(cString: strerror(errno)))",
                hint: "name a place where you may write")
        }
        close(file)
        unlink(name)
    }

    /// The same without a look at the folder above, which is made later.
    static func checkName(_ url: URL, replacing: Bool, hint: String = "use --force to replace it") throws {
        guard !FileKind.isFolder(url) else {
            throw CLIError(
                .cannotCreate, "'\(url.path)' is a folder; the output is a file",
                hint: "name the file in it: \(url.appending(path: "NAME").path)")
        }
        guard !FileKind.isThere(url) || FileKind.isRegular(url) else {
            throw CLIError(
                .cannotCreate, "'\(url.path)' is a pipe, a socket or a device; the output is a file",
                hint: "name a file")
        }
        guard replacing || !FileKind.isThere(url) else {
            throw CLIError(.cannotCreate, "'\(url.path)' exists already", hint: hint)
        }
    }

    /// Whether two names lead to one file.
    private static func isSame(_ one: URL, _ other: URL) -> Bool {
        var (first, second) = (stat(), stat())
        return stat(one.path, &first) == 0 && stat(other.path, &second) == 0 && first.st_dev == second.st_dev
            && first.st_ino == second.st_ino
    }

    /// Makes a folder and those above it.
    ///
    /// - Throws: ``CLIError`` 73 when something else has its name, or nothing may be written there.
    static func makeFolder(_ url: URL, hint: String = "name a folder that is there, or can be made") throws {
        do throws(ShardsError) { try Durable.makeFolder(url) } catch {
            throw CLIError(.cannotCreate, error.message, hint: hint)
        }
    }

    /// Makes a folder that goes again when `body` fails before anything lies in it.
    ///
    /// - Throws: ``CLIError`` 73 as ``makeFolder(_:hint:)``; what `body` throws.
    static func withFolder<Result>(_ url: URL, _ body: () throws -> Result) throws -> Result {
        let isNew = !FileKind.isThere(url)
        try makeFolder(url)
        do { return try body() } catch {
            if isNew { rmdir(url.path) }
            throw error
        }
    }
}
