internal import Errors
package import Foundation
internal import Synchronization

/// An open ZIP archive of stored files, whose entries are read in place.
package final class StoredZipFile: Sendable {
    private let members: [String: StoredZip.Member]
    private let size: Int
    // A file handle has one position; so one thread at a time reads.
    private let handle: Mutex<FileHandle>

    /// Opens an archive and reads its directory; blocks.
    ///
    /// - Throws: ``StylesError`` `bad-style-pack` with the reason, `io`.
    package init(_ file: URL) throws(StylesError) {
        do {
            let handle = try FileHandle(forReadingFrom: file)
            size = Int(clamping: try handle.seekToEnd())
            members = Dictionary(uniqueKeysWithValues: try StoredZip.members(handle, size).map { ($0.name, $0) })
            self.handle = Mutex(handle)
        } catch let error as StylesError {
            throw error
        } catch {
            throw StylesError(.io, "Cannot read '\(file.path)': \(error.localizedDescription)", cause: error)
        }
    }

    /// The names of the entries, sorted.
    package var names: [String] { members.keys.sorted() }

    /// The bytes of an entry; `nil` when there is none of that name.
    ///
    /// Blocks.
    ///
    /// - Throws: ``StylesError`` `bad-style-pack` for damaged bytes.
    package func bytes(_ name: String) throws(StylesError) -> [UInt8]? {
        guard let member = members[name] else { return nil }
        do { return try handle.withLock { try StoredZip.bytes(of: member, $0, size) } } catch {
            throw error as? StylesError
                ?? StylesError(.io, "Cannot read '\(name)' of a style pack: \(error)", cause: error)
        }
    }
}
