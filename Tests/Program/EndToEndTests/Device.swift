import Foundation

/// The store of a device, as its commands show it.
enum Device {
    /// The file of an installed item.
    static func file(_ id: String, in store: URL, _ scratch: Scratch) async throws -> URL {
        let listed = try await Program.run(
            ["device", "list", "--installed", "--json", "--store", store.path], in: scratch)
        let rows = try JSONSerialization.jsonObject(with: Data(listed.output.utf8)) as? [[String: Any]] ?? []
        for row in rows where (row["item"] as? [String: Any])?["id"] as? String == id {
            if let path = row["file"] as? String { return URL(filePath: path) }
        }
        throw CocoaError(.fileNoSuchFile, userInfo: [NSLocalizedDescriptionKey: listed.output + listed.errors])
    }
}
