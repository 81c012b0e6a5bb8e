internal import Foundation
internal import SQLiteFiles

/// How an archive is opened.
package struct ArchiveAccess: Sendable {
    /// Whether no program changes the file while it is open: no locks, no side files, and an unlinked file stays readable.
    package var isUnchanging: Bool
    /// Whether the same bytes were opened before: then the plans of look-ups are not asked for again.
    ///
    /// That takes as long as the rest of opening.
    package var isProbed = false
    /// Whether it is read by a job instead of a renderer: it waits longer for locks (``AnySQLiteFile/patience``), makes a
    /// temporary index where the file has no index, and refuses a tile that is listed without a body.
    package var isBatch = false
    /// The most bytes of a body, as it is stored and unpacked.
    package var limit = Int(ReadOnlyDatabase.maxBody)

    /// For a renderer.
    package init(isUnchanging: Bool = true, isProbed: Bool = false) {
        self.isUnchanging = isUnchanging
        self.isProbed = isProbed
    }

    /// For a job that reads the file at a path.
    package static func batch(_ path: String, limit: Int = Int(ReadOnlyDatabase.maxBody)) -> ArchiveAccess {
        var access = ArchiveAccess(isUnchanging: AnySQLiteFile.isClosedWAL(URL(filePath: path)))
        access.isBatch = true
        access.limit = limit
        return access
    }
}
