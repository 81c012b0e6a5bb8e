internal import Errors
package import Foundation

/// Reads a file of a catalog in a folder.
package enum ReadFile {
    /// The whole file; `nil` when it does not exist.
    ///
    /// - Throws: ``CatalogTransferError`` `permission`, `io`.
    package static func ifPresent(_ file: URL) throws(CatalogTransferError) -> [UInt8]? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        do { return Array(try Data(contentsOf: file)) } catch {
            if (error as? CocoaError)?.code == .fileReadNoPermission {
                throw CatalogTransferError(
                    .permission, "File '\(file.path)' may not be read by this user.", cause: error)
            }
            throw CatalogTransferError(
                .io, "File '\(file.path)' cannot be read: \(error.localizedDescription)", cause: error)
        }
    }
}
