internal import Errors
package import Files
package import Foundation

/// Files of a pack, written so that a reader sees all of one or none.
package enum PackFile {
    package static func write(_ bytes: [UInt8], to url: URL) throws(StylesError) {
        do {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: url, options: .atomic)
        } catch {
            throw self.error(error, url)
        }
    }

    package static func error(_ error: any Error, _ url: URL) -> StylesError {
        if (error as? CocoaError)?.code == .fileWriteOutOfSpace {
            return StylesError(
                .diskFull, "No space left to write '\(url.path)'; free some space and run the command again.",
                cause: error)
        }
        return StylesError(.io, "Cannot write '\(url.path)': \(error.localizedDescription)", cause: error)
    }

    package static func error(_ error: StorageError) -> StylesError {
        StylesError(error.code == .diskFull ? .diskFull : .io, error.message, cause: error)
    }
}
