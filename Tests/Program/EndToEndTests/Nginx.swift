import Foundation
import TestSupport
import Testing

/// nginx on loopback with a folder or archive of tiles (ops/e2e/nginx-tiles).
final class Nginx {
    private let daemon: Daemon
    let url: String

    init(tiles: URL, in scratch: Scratch) async throws {
        let state = scratch.url("nginx-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
        let daemon = try Daemon(program: URL(filePath: "ops/e2e/nginx-tiles"), [tiles.path, state.path], in: scratch)
        self.daemon = daemon
        url = try await Eventually.get("nginx serves") { () -> String? in
            guard daemon.isRunning else { throw Daemon.Ended(program: "nginx", said: daemon.said) }
            let said = try String(contentsOf: daemon.output, encoding: .utf8)
            return said.hasPrefix("ready ") ? String(said.dropFirst(6).prefix { !$0.isNewline }) : nil
        }
    }

    func stop() async throws { try await daemon.stop() }
}
