import Foundation
import TestSupport

/// Tiles made from their own address, served within this process; it can be slow, and it can give wrong answers.
struct SyntheticOrigin {
    /// Answers, and remembers what was asked.
    let server: ScriptedServer
    /// Delays tiles on request of a test.
    let gate = TileGate()
    private let file: URL

    /// What an origin in a bad hour says instead of a tile.
    private static let lies: [@Sendable (_ truth: [UInt8]) -> ScriptedServer.Answer] = [
        { _ in .reply(500) },
        { _ in .reply(503) },
        { _ in .reply(429, headers: [("Retry-After", "1")]) },
        { _ in .reply(200, headers: [("Content-Type", "text/html")], body: Array("<!DOCTYPE html><p>Sign in".utf8)) },
        { _ in .reply(200, headers: [("Content-Type", "image/png")], body: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A]) },
        { truth in .raw(Array("HTTP/1.1 200 OK\r\nContent-Length: \(truth.count)\r\n\r\n".utf8) + truth.prefix(10)) },
        { _ in .raw([]) },
        { _ in .raw(Array("no HTTP at all\r\n\r\n".utf8)) },
        { _ in .reply(302, headers: [("Location", "/round")]) },
    ]

    /// - Parameters:
    ///   - lieAbout: one in so many tiles is lied about when it is asked for first; 0 none.
    ///   - breaking: one in so many tiles is answered with 500 forever; 0 none.
    init(latency: Duration = .zero, lieAbout: Int = 0, breaking: Int = 0, in scratch: Scratch) throws {
        server = try ScriptedServer { [gate] request in
            gate.pass()
            if latency > .zero { usleep(UInt32(latency / .microseconds(1))) }
            if request.path == "/round" { return .reply(302, headers: [("Location", "/round")]) }
            let truth = Self.tile(request.path)
            let number = Self.number(request.path)
            if breaking > 0, number.isMultiple(of: UInt32(breaking)) { return .reply(500) }
            if lieAbout > 0, request.earlier == 0, number.isMultiple(of: UInt32(lieAbout)) {
                return Self.lies[Int(number / UInt32(lieAbout)) % Self.lies.count](truth)
            }
            return .reply(200, headers: [("Content-Type", "application/vnd.mapbox-vector-tile")], body: truth)
        }
        file = scratch.url("synthetic-\(server.port).yaml")
        try Data("id: synthetic\nurl: \(server.url)/{z}/{x}/{y}.pbf\nformat: pbf\nzoom: 0-14\n".utf8).write(to: file)
    }

    /// The tileset file; packages hold nothing of the port in it.
    var tileset: String { file.path }

    /// Ends the server; requests that wait at the gate are answered first.
    func stop() {
        gate.open()
        server.stop()
    }

    /// How many tiles were asked for more than once.
    var askedAgain: Int { server.requests.count { $0.earlier > 0 && $0.path != "/round" } }

    /// Whether a tile, named as z/x/y, is one of those that fail forever.
    static func isBroken(_ tile: String, breaking: Int) -> Bool {
        number("/\(tile).pbf").isMultiple(of: UInt32(breaking))
    }

    /// The same for a path in every run; djb2.
    private static func number(_ path: String) -> UInt32 {
        path.utf8.reduce(5381) { ($0 &* 33) ^ UInt32($1) }
    }

    /// A vector tile of one point in a layer that is called like the tile.
    static func tile(_ path: String) -> [UInt8] {
        let name = Array(path.utf8)
        let feature: [UInt8] = [0x18, 1, 0x22, 3, 9, 50, 34]
        let layer =
            [0x0A, UInt8(name.count)] + name + [0x12, UInt8(feature.count)] + feature + [0x28, 0x80, 0x20, 0x78, 2]
        return [0x1A, UInt8(layer.count)] + layer
    }
}
