import Errors
import Files
package import Foundation

/// Checks the output of a command before it starts its work: an output that cannot be created ends with 73 at once.
package enum OutputLocation {
    /// Refuses a path at which no file can be written.
    ///
    /// - Parameters:
    ///   - replacing: Whether an existing file of that name may be replaced.
    ///   - inputs: Files that are read and must not be overwritten.
    ///   - hint: The remedy for an existing file.
    /// - Throws: ``CLIError`` 64 for an input; 73 for a folder, a device, a file that must not be replaced, and a
    ///   parent folder that does not exist or is not writable.
    package static func checkFile(
        _ url: URL, replacing: Bool, inputs: [URL] = [], hint: String = "use --force to replace it"
    ) throws {
        if let input = inputs.first(where: { isSame($0, url) }) {
            throw CLIError(.usage, "'\(input.path)' is an input and cannot be the output", hint: "choose another file")
        }
        try checkName(url, replacing: replacing, hint: hint)
        let folder = url.deletingLastPathComponent()
        guard FileKind.isFolder(folder) else {
            throw CLIError(
                .cannotCreate, "'\(url.path)' cannot be written: the folder '\(folder.path)' does not exist",
                hint: "create it first: mkdir -p '\(folder.path)'")
        }
        try tryFolder(of: url)
    }

    /// Creates a file next to the output and removes it at once: permissions alone do not show whether writing works.
    ///
    /// - Throws: ``CLIError`` 73.
    package static func tryFolder(of url: URL) throws {
        // mkstemp replaces the six letters by a free name.
        var name = Array(url.deletingLastPathComponent().appending(path: ".packhorse-XXXXXX").path.utf8CString)
        let file = mkstemp(&name)
        guard file >= 0 else {
            throw CLIError(
                .cannotCreate,
                "'\(url.path)' cannot be written into its folder: \(String(cString: strerror(errno)))",
                hint: "choose a writable folder")
        }
        close(file)
        unlink(name)
    }

    /// The same without a check of the parent folder, which is created later.
    package static func checkName(_ url: URL, replacing: Bool, hint: String = "use --force to replace it") throws {
        guard !FileKind.isFolder(url) else {
            throw CLIError(
                .cannotCreate, "'\(url.path)' is a folder; the output is a file",
                hint: "give a file name in it: \(url.appending(path: "NAME").path)")
        }
        guard !FileKind.isThere(url) || FileKind.isRegular(url) else {
            throw CLIError(
                .cannotCreate, "'\(url.path)' is a pipe, a socket or a device; the output is a file",
                hint: "give a file name")
        }
        guard replacing || !FileKind.isThere(url) else {
            throw CLIError(.cannotCreate, "'\(url.path)' exists already", hint: hint)
        }
    }

    /// Whether two names refer to the same file.
    private static func isSame(_ one: URL, _ other: URL) -> Bool {
        var (first, second) = (stat(), stat())
        return stat(one.path, &first) == 0 && stat(other.path, &second) == 0 && first.st_dev == second.st_dev
            && first.st_ino == second.st_ino
    }

    /// Creates a folder and its parents.
    ///
    /// - Throws: ``CLIError`` 73 when the name belongs to something else, or without permission.
    package static func makeFolder(_ url: URL, hint: String = "give an existing folder or one that can be created")
        throws
    {
        do throws(StorageError) { try Durable.makeFolder(url) } catch {
            throw CLIError(.cannotCreate, error.message, hint: hint)
        }
    }

    /// Creates a folder that is removed again when `body` fails before it contains anything.
    ///
    /// - Throws: ``CLIError`` 73 as ``makeFolder(_:hint:)``; what `body` throws.
    package static func withFolder<Result>(_ url: URL, _ body: () throws -> Result) throws -> Result {
        let isNew = !FileKind.isThere(url)
        try makeFolder(url)
        do { return try body() } catch {
            if isNew { rmdir(url.path) }
            throw error
        }
    }
}
