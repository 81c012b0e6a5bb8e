package import Foundation

/// The endpoints of a running coordinator, in `endpoints.json` of its data folder.
///
/// With a port of `*` or 0 in `--control` and `--work`, other processes on the machine read the ports from it.
package struct EndpointsFile: Codable, Equatable {
    package let control: String
    package let work: String
    /// The endpoint of streamed blobs; `nil` = not streamed.
    package let blob: String?
    package let pid: Int32

    package init(control: String, work: String, blob: String? = nil, pid: Int32) {
        self.control = control
        self.work = work
        self.blob = blob
        self.pid = pid
    }

    /// The endpoint with the next port.
    ///
    /// A free port (`*`) stays a free port.
    package static func next(after endpoint: String) -> String {
        guard let colon = endpoint.lastIndex(of: ":"), let port = UInt16(endpoint[endpoint.index(after: colon)...]),
            1..<UInt16.max ~= port
        else { return free(like: endpoint) }
        return "\(endpoint[..<colon]):\(port + 1)"
    }

    /// The endpoint with a port that the system chooses.
    package static func free(like endpoint: String) -> String {
        guard let colon = endpoint.lastIndex(of: ":") else { return endpoint }
        return "\(endpoint[..<colon]):*"
    }

    private static func url(_ data: URL) -> URL { data.appending(path: "endpoints.json") }

    /// Replaces the file atomically.
    package func write(to data: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(self).write(to: Self.url(data), options: .atomic)
    }

    /// The file's content, or `nil` when it does not exist.
    package static func read(_ data: URL) -> EndpointsFile? {
        guard let bytes = FileManager.default.contents(atPath: url(data).path) else { return nil }
        // A damaged file counts as missing; the coordinator writes it at every start.
        return try? JSONDecoder().decode(EndpointsFile.self, from: bytes)
    }

    /// Removes the file, so that an old one is not mistaken for a running coordinator.
    package static func remove(_ data: URL) {
        unlink(url(data).path)
    }
}
