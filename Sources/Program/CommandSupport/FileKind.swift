import Errors
package import Foundation

/// Checks of files that are given to commands.
package enum FileKind {
    /// - Throws: ``CLIError`` 66 when the path does not exist, or is neither a file nor a folder.
    package static func requirePath(_ url: URL) throws {
        guard FileManager.default.fileExists(atPath: url.path) else {
            let isAddress = url.path.contains("://")
            throw CLIError(
                .noInput, "'\(url.path)' does not exist",
                hint: isAddress ? "this argument is a file or a folder; an address is not read here" : nil)
        }
        guard isFolder(url) || isRegular(url) else {
            throw CLIError(.noInput, "'\(url.path)' is a pipe, a socket or a device; a file is expected")
        }
    }

    /// - Throws: ``CLIError`` 66 when the path does not exist or is a folder.
    package static func requireFile(_ url: URL) throws {
        try requirePath(url)
        if isFolder(url) { throw CLIError(.noInput, "'\(url.path)' is a folder; a file is expected") }
    }

    /// Whether it is a regular file.
    package static func isRegular(_ url: URL) -> Bool {
        var status = stat()
        return stat(url.path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    package static func isThere(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

    /// Size of an existing file in bytes.
    package static func size(_ url: URL) throws -> UInt64 {
        let handle = try FileHandle(forReadingFrom: url)
        // The file was only read: closing it cannot lose data.
        defer { try? handle.close() }
        return try handle.seekToEnd()
    }

    package static func isFolder(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    }
}
