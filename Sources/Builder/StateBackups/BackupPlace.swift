/// Where backups are: named objects, each there with all of its bytes or not at all.
///
/// Everything is in the folder `state-backups` of the place, so that a place may also be that of a blob store.
public protocol BackupPlace: Sendable {
    /// How a user names the place: a folder, or `s3://bucket/prefix`.
    var name: String { get }
    /// The names of all objects of a kind, in any order.
    ///
    /// - Throws: ``BackupError`` `bad-place` when the place does not exist; `S3Error`, `StorageError`.
    func names(of kind: BackupObjectKind) async throws -> [String]
    /// Stores an object durably; it replaces one of the same name.
    func write(_ bytes: [UInt8], to name: String, of kind: BackupObjectKind) async throws
    /// The bytes of an object of at most 8 MiB, or `nil` without it.
    func read(_ name: String, _ kind: BackupObjectKind) async throws -> [UInt8]?
    /// Removes an object; a missing one is no error.
    func remove(_ name: String, _ kind: BackupObjectKind) async throws
    /// Removes what a crash left of objects that were being written.
    func removeUnfinished() async throws
}

/// The objects of a place.
public enum BackupObjectKind: String, CaseIterable, Sendable {
    /// A coordinator says that it runs, with its epoch.
    case claims
    /// What a backup consists of: ``BackupIndex``.
    case index
    /// Pages: ``PageSegment``.
    case segments

    /// Its folder below the place.
    var path: String { "state-backups/\(rawValue)" }
}
