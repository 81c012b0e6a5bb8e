import Foundation
import TestSupport
import Testing

/// The built-in world as a tile server of its own.
final class DemoOrigin {
    private let daemon: Daemon
    /// For example `http://127.0.0.1:40001`.
    let url: String

    init(_ arguments: [String] = [], in scratch: Scratch) async throws {
        let daemon = try Daemon(["demo-origin", "--port", "0"] + arguments, in: scratch)
        self.daemon = daemon
        url = try await Eventually.get("the demo origin serves") {
            let text = try String(contentsOf: daemon.output, encoding: .utf8)
            return text.split(separator: "\n").first { $0.hasPrefix("http://") }.map(String.init)
        }
    }

    var tileset: String { "\(url)/tiles.json" }
}
