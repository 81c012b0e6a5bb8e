import Catalog
import Digests
import Files
import Foundation

/// A folder of one test, removed with it.
final class Scratch {
    let folder: URL
    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("packhorse-catalog-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    deinit { try? FileManager.default.removeItem(at: folder) }
    func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

    func text(_ name: String) throws -> String { String(decoding: try Data(contentsOf: file(name)), as: UTF8.self) }

    /// A request to publish a file that holds `text`.
    func request(
        _ id: String, _ text: String, names: [String: String] = ["en": "Europe/Estonia"], mask: String = "QAAA:14",
        size: UInt64? = nil
    ) throws -> PublishRequest {
        let file = file("blob-\(text)")
        try Data(text.utf8).write(to: file)
        return PublishRequest(
            id: id, file: file, digest: Digest(of: Array(text.utf8)), size: size ?? UInt64(text.utf8.count),
            maskWire: mask, names: names, tilesHash: "D41D8CD98F00B204E9800998ECF8427E")
    }

    /// The package in another format, holding `text`.
    func other(_ format: String, _ text: String, extension fileExtension: String? = nil) throws -> PublishFile {
        let file = file("blob-\(text)")
        try Data(text.utf8).write(to: file)
        return PublishFile(
            format: format, fileExtension: fileExtension ?? ".\(format)", url: file,
            digest: Digest(of: Array(text.utf8)), size: UInt64(text.utf8.count))
    }
}
