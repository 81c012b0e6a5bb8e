import Foundation

/// A folder of one test.
final class DeviceScratch: Sendable {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "packhorse-device-tests-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func file(_ path: String) -> URL { folder.appending(path: path, directoryHint: .notDirectory) }

    /// Writes a file, and the folders above it.
    @discardableResult func write(_ path: String, _ bytes: Data) throws -> URL {
        let url = file(path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try bytes.write(to: url)
        return url
    }
}
