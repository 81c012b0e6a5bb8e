import Foundation
internal import ObjectStore

/// The list of the files that an unfinished push has sent, stored in the target during a push.
///
/// S3 does not report the SHA-256 of its objects.
struct PushJournal: Sendable {
    /// Its name in the target.
    static let name = "push.json"

    private let target: any PushTarget
    private var entries: [String: String] = [:]
    private var unsaved: (files: Int, bytes: UInt64) = (0, 0)

    init(_ target: any PushTarget) { self.target = target }

    /// The SHA-256 of files by path; empty for a list that cannot be read, because then some files are sent again.
    static func files(in bytes: [UInt8]?) -> [String: String] {
        bytes.flatMap { try? JSONDecoder().decode([String: String].self, from: Data($0)) } ?? [:]
    }

    mutating func addWithoutSaving(_ path: String, _ sha256: String) { entries[path] = sha256 }

    /// Records a file.
    ///
    /// Writes the list after 16 files or 32 MiB.
    mutating func add(_ path: String, _ sha256: String, bytes: UInt64) async throws {
        entries[path] = sha256
        unsaved = (unsaved.files + 1, unsaved.bytes + bytes)
        if unsaved.files >= 16 || unsaved.bytes >= 32 << 20 { try await flush() }
    }

    /// Writes the list when something is new in it.
    mutating func flush() async throws {
        guard unsaved.files > 0 else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        _ = try await target.put(Self.name, bytes: Array(try encoder.encode(entries)), if: nil)
        unsaved = (0, 0)
    }
}
