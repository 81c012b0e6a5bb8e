package import Foundation

/// The size of a file and its first bytes.
package struct FileHead {
    /// The first 100 bytes, as many as SQLite's header has; fewer of a shorter file.
    package let bytes: [UInt8]
    /// Bytes.
    package let size: UInt64

    /// - Throws: ``PackagesError`` `io` naming the file that cannot be read.
    package init(_ url: URL) throws(PackagesError) {
        do {
            let handle = try FileHandle(forReadingFrom: url)
            // The file was only read: closing it cannot lose data.
            defer { try? handle.close() }
            bytes = [UInt8](try handle.read(upToCount: 100) ?? Data())
            size = try handle.seekToEnd()
        } catch {
            throw PackagesError(.io, "Cannot read '\(url.path)': \(error.localizedDescription)", cause: error)
        }
    }
}
