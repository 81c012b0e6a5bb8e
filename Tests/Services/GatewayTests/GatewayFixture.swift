import Catalog
import CatalogFormat
import Digests
import Files
import Foundation
import Logging
import Testing
import Tiles

@testable import Gateway

/// A catalog in a folder of its own, and a gateway over it on a free port.
final class GatewayFixture: Sendable {
    let folder: URL
    let catalog: Catalog
    let port: Int
    private let server: Task<Void, any Error>

    /// - Parameters:
    ///   - home: The folder; `nil` makes one.
    ///   - fill: Publishes before the gateway starts.
    init(
        folder home: URL? = nil, key: CatalogSecretKey? = nil,
        options change: (inout GatewayOptions) throws -> Void = { _ in },
        fill: (Catalog, URL) throws -> Void = { _, _ in }
    ) async throws {
        folder =
            home
            ?? FileManager.default.temporaryDirectory.appendingPathComponent("packhorse-gateway-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let place = folder.appendingPathComponent("catalog")
        catalog = try Catalog(place, create: true, baseURL: "http://maps.example.com/", signingKey: key)
        try fill(catalog, folder)
        var options = GatewayOptions(catalog: place)
        options.port = 0
        options.metrics = .open
        try change(&options)
        let gateway = GatewayServer(options, logger: Logger(label: "gateway") { _ in SwiftLogNoOpLogHandler() })
        let (ready, announce) = AsyncStream.makeStream(of: Int.self)
        server = Task {
            defer { announce.finish() }
            try await gateway.run { announce.yield($0) }
        }
        var bound: Int?
        for await port in ready {
            bound = port
            break
        }
        if bound == nil { try await server.value }
        port = try #require(bound)
    }

    /// Ends the server and removes the folder.
    func end() async {
        server.cancel()
        _ = await server.result
        // A folder that stays takes space only.
        try? FileManager.default.removeItem(at: folder)
    }

    func get(_ path: String, method: String = "GET", _ headers: [String: String] = [:]) async throws -> HTTPProbe.Answer
    {
        try await HTTPProbe.get(port, path, method: method, headers)
    }

    /// Sends a JSON document.
    func post(
        _ path: String, _ json: String, _ headers: [String: String] = [:], method: String = "POST"
    ) async throws -> HTTPProbe.Answer {
        try await HTTPProbe.get(
            port, path, method: method, headers.merging(["Content-Type": "application/json"]) { $1 },
            body: Array(json.utf8))
    }

    /// Asks until the answer fulfils a condition; the suite's time limit ends a wait without end.
    func wait(
        _ path: String, _ headers: [String: String] = [:], until condition: (HTTPProbe.Answer) -> Bool
    ) async throws -> HTTPProbe.Answer {
        while true {
            let answer = try await get(path, headers)
            if condition(answer) { return answer }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}

extension Catalog {
    /// Publishes bytes as a package.
    func publish(
        _ id: String, _ bytes: [UInt8], in folder: URL, mask: String = "QAAA:14", zooms: ZoomRange? = nil,
        tileset: String = "", dataDate: String? = nil, edition: CatalogEdition = .main, files: [PublishFile] = []
    ) throws {
        _ = try publish(
            try request(
                id, bytes, in: folder, mask: mask, zooms: zooms, tileset: tileset, dataDate: dataDate, edition: edition,
                files: files))
    }

    /// What publishes a package of these bytes.
    func request(
        _ id: String, _ bytes: [UInt8], in folder: URL, mask: String = "QAAA:14", zooms: ZoomRange? = nil,
        tileset: String = "", dataDate: String? = nil, edition: CatalogEdition = .main, files: [PublishFile] = []
    ) throws -> PublishRequest {
        let file = folder.appendingPathComponent("blob-\(UUID().uuidString)")
        try Data(bytes).write(to: file)
        var request = PublishRequest(
            id: id, file: file, digest: Digest(of: bytes), size: UInt64(bytes.count), maskWire: mask,
            names: ["en": "World/\(id)"], tilesHash: "D41D8CD98F00B204E9800998ECF8427E")
        request.zooms = zooms
        request.tileset = tileset
        request.options.dataDate = dataDate
        request.options.edition = edition
        request.files = files
        request.options.allowsShrink = true
        return request
    }
}

/// Bytes that repeat nowhere.
func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    return (0..<count).map { _ in
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return UInt8(truncatingIfNeeded: state >> 32)
    }
}
