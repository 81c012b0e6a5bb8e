import Foundation

/// The endpoints a running coordinator is bound to, in `endpoints.json` of its data folder.
///
/// With a port of `*` or 0 in `--control` and `--work` this is how others on the machine learn the ports.
struct EndpointsFile: Codable, Equatable {
    let control: String
    let work: String
    let pid: Int32

    private static func url(_ data: URL) -> URL { data.appending(path: "endpoints.json") }

    /// Replaces the file atomically.
    func write(to data: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(self).write(to: Self.url(data), options: .atomic)
    }

    /// The file's content, or `nil` while there is none.
    static func read(_ data: URL) -> EndpointsFile? {
        guard let bytes = FileManager.default.contents(atPath: url(data).path) else { return nil }
        return try? JSONDecoder().decode(EndpointsFile.self, from: bytes)
    }

    /// Removes the file, so that nobody takes an old one for a running coordinator.
    static func remove(_ data: URL) {
        unlink(url(data).path)
    }
}
