import Catalog
import CatalogFormat
import Digests
import Files
import Foundation
import PackageFiles
import Packages
import Shards
import Synchronization
import TestSupport
import Testing
import TileBodies
import Tiles

@testable import Commands

/// A catalog of small real packages in a folder of one test, and a web server for it.
final class Shop: Sendable {
    let folder: URL
    let key = CatalogSecretKey()
    let catalog: Catalog
    private let server = Mutex<ScriptedServer?>(nil)
    /// What the server does before it serves a path as it should; `nil` = just serve.
    let trouble = Mutex<@Sendable (ScriptedServer.Request, [UInt8]) -> ScriptedServer.Answer?>({ _, _ in nil })

    init(keepVersions: Int? = 3) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "packhorse-shop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        catalog = try Catalog(
            folder.appending(path: "catalog"), create: true, baseURL: "https://maps.example/", signingKey: key,
            keepVersions: keepVersions)
    }

    deinit {
        server.withLock { $0?.stop() }
        try? FileManager.default.removeItem(at: folder)
    }

    func file(_ path: String) -> URL { folder.appending(path: path) }

    // MARK: - Packages

    static let mask = TileMask(
        tiles: (30...33).flatMap { x in (20...23).compactMap { TileID(zoom: 6, x: x, y: $0) } }, maxZoom: 6)

    /// A vector tile with one point whose name is 400 letters of noise.
    private static func body(_ seed: UInt64) -> [UInt8] {
        var state = seed
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_".utf8)
        let name = (0..<400).map { _ -> UInt8 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return letters[Int(state >> 58)]
        }
        func field(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] {
            let length =
                bytes.count < 128 ? [UInt8(bytes.count)] : [UInt8(bytes.count & 127 | 128), UInt8(bytes.count >> 7)]
            return [number << 3 | 2] + length + bytes
        }
        let feature = field(2, [0, 0]) + [0x18, 1] + field(4, [9, 50, 34])
        let layer =
            field(1, Array("land".utf8)) + field(2, feature) + field(3, Array("name".utf8))
            + field(4, field(1, name)) + [0x28, 0x80, 0x20, 0x78, 2]
        return Gzip.compress(field(3, layer))
    }

    /// A package in which every `changed`-th tile belongs to this version alone.
    func package(_ version: UInt64, changed: Int = 10) throws -> (url: URL, receipt: PackageReceipt) {
        let shard = file("shard-\(UUID().uuidString)")
        let zooms = try ZoomRange(parsing: "0-6")
        let writer = try ShardWriter(temporary: shard, header: ShardHeader(tileset: "demo", cell: .root, zooms: zooms))
        for (index, tile) in Self.mask.tiles(in: zooms).enumerated() {
            let seed = UInt64(index) &* 1_000 &+ (index % changed == 0 ? version : 0)
            try writer.add(tile, body: Self.body(seed), etag: nil, lastModified: nil)
        }
        let url = file("package-\(UUID().uuidString)")
        let metadata = PackageMetadata(
            name: "Demo", format: .mvt, bounds: try BoundingBox(west: -11.25, south: 33.5, east: 22.5, north: 58.75),
            attribution: "© Demo", vectorLayersJSON: #"[{"fields":{"name":"String"},"id":"land"}]"#)
        let receipt = try MBTilesMerge.run(
            PackageSpec(id: "demo", mask: Self.mask, zooms: zooms, metadata: metadata),
            shards: [MergeInput(url: shard, digest: try writer.finish().digest)], into: url)
        return (url, receipt)
    }

    /// Publishes a version, and the patches to it.
    @discardableResult
    func publish(
        _ id: String, _ version: UInt64, changed: Int = 10, edition: CatalogEdition = .main, others: [PublishFile] = [],
        patches: Bool = true
    ) throws -> Published {
        let (url, receipt) = try package(version, changed: changed)
        var request = PublishRequest(
            id: id, file: url, digest: receipt.digest, size: receipt.size, maskWire: Self.mask.cartoWire,
            names: ["en": "Europe/\(id)"], tilesHash: receipt.tilesHash)
        request.options.edition = edition
        request.files = others
        request.attribution = "© Demo"
        let done = try catalog.publish(request)
        for wanted in patches ? try catalog.wantedPatches(id, in: edition) : [] {
            _ = try catalog.make(wanted, with: CatalogPatchCommand.maker)
        }
        return done
    }

    /// Publishes a package and the tile packs that it is cut into, as a coordinator does.
    func publishCut(_ id: String, _ version: UInt64) throws -> TilePackList {
        let (url, receipt) = try package(version)
        var order = TilePacks.Order(package: url, id: id, tileset: "demo")
        order.mask = Self.mask
        let list = try TilePacks.packs(order, into: file("catalog"))
        var request = PublishRequest(
            id: id, file: url, digest: receipt.digest, size: receipt.size, maskWire: Self.mask.cartoWire,
            names: ["en": "Europe/\(id)"], tilesHash: receipt.tilesHash)
        request.tileset = list.tileset
        request.tilePacks = PublishedPacks(
            list: try list.encoded(), files: list.packs.map { PublishedPacks.Pack(path: $0.path, size: $0.size) })
        _ = try catalog.publish(request)
        return list
    }

    /// A file of another format with some bytes.
    func other(_ format: String, _ bytes: [UInt8]) throws -> PublishFile {
        let url = file("other-\(UUID().uuidString)")
        try Data(bytes).write(to: url)
        return PublishFile(
            format: format, fileExtension: ".\(format)", url: url, digest: Digest(of: bytes), size: UInt64(bytes.count))
    }

    /// A package as PMTiles.
    func pmtiles(_ version: UInt64) throws -> PublishFile {
        let url = file("\(UUID().uuidString).pmtiles")
        let made = try PackageExport.write(from: try package(version).url, format: .pmtiles, to: url)
        return PublishFile(format: "pmtiles", fileExtension: ".pmtiles", url: url, digest: made.digest, size: made.size)
    }

    // MARK: - Serving

    /// The catalog's address; the server starts with the first who asks.
    func address() throws -> String {
        let root = file("catalog")
        return try server.withLock { server in
            let running =
                try server
                ?? ScriptedServer { [weak self] request in
                    guard let self, let bytes = try? Data(contentsOf: root.appending(path: request.path)) else {
                        return .reply(404)
                    }
                    if let answer = self.trouble.withLock({ $0 })(request, Array(bytes)) { return answer }
                    return Self.serve(request, Array(bytes))
                }
            server = running
            return running.url + "/"
        }
    }

    /// Paths asked for so far, and whether a range was.
    func asked() -> [(path: String, range: String?)] {
        server.withLock { $0?.requests ?? [] }.map { (String($0.path.drop { $0 == "/" }), $0.headers["range"]) }
    }

    private static func serve(_ request: ScriptedServer.Request, _ bytes: [UInt8]) -> ScriptedServer.Answer {
        guard let range = request.headers["range"], let from = Int(range.dropFirst("bytes=".count).prefix { $0 != "-" })
        else { return .reply(200, body: bytes) }
        guard from < bytes.count else { return .reply(416) }
        return .reply(
            206, headers: [("Content-Range", "bytes \(from)-\(bytes.count - 1)/\(bytes.count)")],
            body: Array(bytes[from...]))
    }

    /// Changes one byte of a file of the catalog.
    func flip(_ path: String, at place: Int? = nil) throws {
        let url = file("catalog/\(path)")
        var bytes = try Data(contentsOf: url)
        let place = place ?? bytes.count / 2
        bytes[place] ^= 1
        // A new file: the old file may also belong to its publisher.
        try FileManager.default.removeItem(at: url)
        try bytes.write(to: url)
    }
}
