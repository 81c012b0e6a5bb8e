package import Digests
internal import Files
package import Foundation
package import ObjectStore

/// A folder, usually that of a web server.
///
/// Files are flushed and then renamed to their final names. Nothing is compared: one publisher pushes to a folder.
package struct FolderTarget: PushTarget {
    package let folder: URL

    package init(folder: URL) {
        self.folder = folder
    }

    package var name: String { folder.path }

    package var warningOfNoComparison: String? { nil }

    package func objects() async throws -> [String: UInt64] {
        try await FileWork.run { [folder] in
            var found: [String: UInt64] = [:]
            guard let walk = FileManager.default.enumerator(atPath: folder.path) else { return found }
            while let path = walk.nextObject() as? String {
                guard walk.fileAttributes?[.type] as? FileAttributeType == .typeRegular else { continue }
                found[path] = (walk.fileAttributes?[.size] as? NSNumber)?.uint64Value
            }
            return found
        }
    }

    package func read(_ name: String) async throws -> StoredObject? {
        try ReadFile.ifPresent(folder.appending(path: name)).map { StoredObject($0) }
    }

    package func comparisons() async throws -> PutComparisons { .none }

    package func put(_ name: String, bytes: [UInt8], if condition: PutCondition?) async throws -> PutResult {
        let file = folder.appending(path: name)
        try await FileWork.run {
            try Durable.makeFolder(file.deletingLastPathComponent())
            try Durable.write(bytes, to: file)
        }
        return .stored(tag: nil)
    }

    package func put(_ name: String, file: URL, size: UInt64, sha256: Digest, isNew: Bool) async throws -> Bool {
        let target = folder.appending(path: name)
        try await FileWork.run {
            try Durable.makeFolder(target.deletingLastPathComponent())
            try Durable.copy(file, to: target)
        }
        return true
    }

    package func remove(_ name: String) async throws {
        let file = folder.appending(path: name)
        try await FileWork.run { [folder] in
            try Durable.remove(file)
            Durable.removeEmptyFolders(of: [file], upTo: folder)
        }
    }
}
