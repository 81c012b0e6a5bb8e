import Foundation
import Synchronization
import TestSupport

/// An origin with validators whose tiles can be changed: it answers 304 to a client that already has a tile, and counts
/// the tiles whose bodies it sends.
final class ChangingOrigin: Sendable {
    private struct State {
        var versions: [String: Int] = [:]
        var bodies: Set<String> = []
        var confirmed: Set<String> = []
        var repeats = 0
    }
    private let state = Mutex(State())
    private let hasValidators: Bool
    private let listener = Mutex<ScriptedServer?>(nil)
    /// The tileset's file.
    let tileset: String

    /// - Parameter validators: Whether it sends ETags and answers 304.
    init(validators: Bool = true, in scratch: Scratch) throws {
        hasValidators = validators
        let file = scratch.url("changing-\(UUID().uuidString).yaml")
        tileset = file.path
        let server = try ScriptedServer { [weak self] in self?.answer($0) ?? .reply(500) }
        listener.withLock { $0 = server }
        try Data("id: changing\nurl: \(server.url)/{z}/{x}/{y}.pbf\nformat: pbf\nzoom: 0-14\n".utf8).write(to: file)
    }

    func stop() { listener.withLock { $0 }?.stop() }

    /// Gives a tile, named as z/x/y, other bytes from now on.
    func change(_ tile: String) { state.withLock { $0.versions["/\(tile).pbf", default: 1] += 1 } }

    /// Tiles sent and tiles confirmed since the last call, each counted once.
    ///
    /// Among several workers a batch that takes long is also given to a second one (a speculative lease): a busy machine is enough for it.
    func counts() -> (bodies: Int, confirmed: Int) {
        state.withLock { state in
            defer { (state.bodies, state.confirmed) = ([], []) }
            return (state.bodies.count, state.confirmed.count)
        }
    }

    /// How often a tile had the same answer again between two calls of ``counts()``, in all.
    var repeats: Int { state.withLock { $0.repeats } }

    private func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
        state.withLock { state in
            let name = "\(request.path) \(state.versions[request.path, default: 1])"
            let tag = "\"\(name.dropFirst())\""
            if hasValidators, request.headers["if-none-match"] == tag {
                if !state.confirmed.insert(name).inserted { state.repeats += 1 }
                return .reply(304, headers: [("ETag", tag)])
            }
            if !state.bodies.insert(name).inserted { state.repeats += 1 }
            return .reply(200, headers: hasValidators ? [("ETag", tag)] : [], body: Self.tile(name))
        }
    }

    /// A vector tile of one point in a layer of that name.
    private static func tile(_ name: String) -> [UInt8] {
        let name = Array(name.utf8)
        let feature: [UInt8] = [0x18, 1, 0x22, 3, 9, 50, 34]
        let layer =
            [0x0A, UInt8(name.count)] + name + [0x12, UInt8(feature.count)] + feature + [0x28, 0x80, 0x20, 0x78, 2]
        return [0x1A, UInt8(layer.count)] + layer
    }
}
