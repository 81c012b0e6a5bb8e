import Errors
package import Foundation

/// Reads a file that the user named.
package enum InputFile {
    /// The whole file.
    ///
    /// - Throws: ``CLIError``: 66 when it does not exist or is not a file, 77 without permission, 74 otherwise.
    package static func read(_ file: URL) throws -> Data {
        try FileKind.requireFile(file)
        do {
            return try Data(contentsOf: file)
        } catch let error as CocoaError where error.code == .fileReadNoPermission {
            throw CLIError(.permission, "file '\(file.path)' may not be read by this user")
        } catch {
            throw CLIError(.inputOutput, "file '\(file.path)' cannot be read: \(error.localizedDescription)")
        }
    }

    /// The file, open for reading from its start.
    ///
    /// - Throws: ``CLIError`` as ``read(_:)`` does.
    package static func open(_ file: URL) throws -> FileHandle {
        try FileKind.requireFile(file)
        do { return try FileHandle(forReadingFrom: file) } catch let error as CocoaError
            where error.code == .fileReadNoPermission
        {
            throw CLIError(.permission, "file '\(file.path)' may not be read by this user")
        } catch {
            throw CLIError(.inputOutput, "file '\(file.path)' cannot be read: \(error.localizedDescription)")
        }
    }
}
