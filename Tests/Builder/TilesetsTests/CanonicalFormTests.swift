import Foundation
import Testing
import TileBodies
import Tiles
import Tilesets

/// Jobs compare tilesets by the bytes of the canonical form, and workers know nothing else of a tileset.
struct CanonicalFormTests {
    private static func resolved(_ text: String) throws -> Tileset {
        let file = try TilesetFile(text: text, name: "t.yaml", folder: URL(fileURLWithPath: "/maps"))
        var metadata = SourceMetadata()
        metadata.format = .mvt
        metadata.zooms = file.source.path == nil ? nil : .all
        return try file.resolved(metadata: metadata)
    }

    private static let server = """
        attribution: "© somebody"
        id: streets.v1
        name: Streets
        url: ["https://{s}.tiles.example.org/{language}/{z}/{x}/{y}.pbf?key={key}"]
        subdomains: [a, b]
        zoom: 0-14
        bounds: [5.9, 45.8, 10.5, 47.8]
        headers: {Authorization: "Bearer ${TOKEN}", X-Client: packhorse}
        key: ${KEY}
        language: de
        http2: true
        politeness: {concurrency: 4, requests_per_second: 12.5, contact: maps@example.org}
        timeouts: {connect: 3, total: 30}
        """

    /// The bytes that commit 1ebb044c wrote.
    @Test(arguments: [
        ("maxTileBytes", "max_tile_bytes"), ("concurrency", "politeness.concurrency"),
        ("totalSeconds", "timeouts.total"),
        ("minzoom", "minzoom"), ("vectorLayers", "vectorLayers"),
    ])
    func membersHaveTheKeysOfFiles(member: String, key: String) {
        #expect(TilesetKey.name(ofMember: member) == key)
    }

    @Test(arguments: [
        (
            server,
            #"{"attribution":"© somebody","bounds":[5.9,45.8,10.5,47.8],"concurrency":4,"connectSeconds":3,"contact":"maps@example.org","format":"pbf","headers":{"Authorization":"Bearer ${TOKEN}","X-Client":"packhorse"},"http2":true,"id":"streets.v1","keyEnvironment":"KEY","language":"de","maxTileBytes":16777216,"maxzoom":14,"minzoom":0,"name":"Streets","requestsPerSecond":12.5,"scheme":"xyz","stallSeconds":20,"subdomains":["a","b"],"templates":["https://{s}.tiles.example.org/{language}/{z}/{x}/{y}.pbf?key={key}"],"totalSeconds":30,"version":1}"#
        ),
        (
            "url: mbtiles:a b.mbtiles\nscheme: tms\nzoom: 0-14",
            #"{"concurrency":8,"connectSeconds":10,"format":"pbf","headers":{},"http2":false,"id":"a-b","maxTileBytes":16777216,"maxzoom":14,"mbtiles":"/maps/a b.mbtiles","minzoom":0,"scheme":"tms","stallSeconds":20,"totalSeconds":60,"version":1}"#
        ),
        (
            "url: pmtiles:/x/a.pmtiles\nlayers: [roads, water]\nzoom: 0-14",
            #"{"concurrency":8,"connectSeconds":10,"format":"pbf","headers":{},"http2":false,"id":"a","layers":["roads","water"],"maxTileBytes":16777216,"maxzoom":14,"minzoom":0,"pmtiles":"/x/a.pmtiles","scheme":"xyz","stallSeconds":20,"totalSeconds":60,"version":1}"#
        ),
        (
            "url: http://10.0.0.1/p/planet.pmtiles\noverfetch: 0.2\nzoom: 0-14\npoliteness: {bytes_per_second: 1000000000000}",
            #"{"bytesPerSecond":1000000000000,"concurrency":8,"connectSeconds":10,"format":"pbf","headers":{},"http2":false,"id":"planet","maxTileBytes":16777216,"maxzoom":14,"minzoom":0,"overfetch":0.2,"pmtilesURL":"http://10.0.0.1/p/planet.pmtiles","scheme":"xyz","stallSeconds":20,"totalSeconds":60,"version":1}"#
        ),
    ])
    func theBytesStay(text: String, expected: String) throws {
        let tileset = try Self.resolved(text)
        #expect(String(decoding: tileset.canonicalJSON, as: UTF8.self) == expected)
        #expect(try Tileset(canonicalJSON: Array(expected.utf8)) == tileset)
    }

    /// A value of each key that is not its default; a key without one fails the test.
    private static let samples = [
        "url": "url: http://localhost/other/{s}/{z}/{x}/{y}.pbf", "id": "id: other", "name": "name: Name",
        "description": "description: text", "attribution": "attribution: somebody", "format": "format: png",
        "zoom": "zoom: 2-9", "minzoom": "minzoom: 3\nmaxzoom: 22", "maxzoom": "maxzoom: 9",
        "bounds": "bounds: [1, 2, 3, 4]", "scheme": "scheme: tms", "subdomains": "subdomains: [x]",
        "headers": "headers: {X-Client: me}", "key": "key: ${KEY}", "language": "language: de",
        "group": "group: terrain",
        "archives": "archives: [{url: a.pmtiles, zoom: 0-5}]", "encoding": "encoding: mapbox\nformat: png",
        "tile_size": "tile_size: 512\nformat: webp",
        "tile_packs": "tile_packs: 0-8@0", "layers": "layers: [water]", "overfetch": "overfetch: 0.5",
        "sync": "url: http://10.0.0.1/planet.pmtiles\nformat: pbf\nsync: true",
        "empty_statuses": "empty_statuses: [403, 400]",
        "reject": "reject: [\(String(repeating: "ab", count: 32))]", "http2": "http2: true",
        "max_tile_bytes": "max_tile_bytes: 1000",
        "politeness.concurrency": "3", "politeness.requests_per_second": "2.5",
        "politeness.bytes_per_second": "20000", "politeness.user_agent": "me", "politeness.contact": "me@example.org",
        "timeouts.connect": "1.5", "timeouts.total": "7", "timeouts.stall": "9",
    ]

    @Test func everyKeyReachesTheWorkers() throws {
        let base = "url: http://localhost/{s}/{z}/{x}/{y}.pbf"
        let plain = try Self.resolved(base)
        let names = TilesetKey.all.map(\.name)
        // LatestTests has those of a source that stands in place of url.
        let others = TilesetKey.all.filter { !$0.name.hasPrefix("latest") }
        for key in others where !names.contains(where: { $0.hasPrefix(key.name + ".") }) {
            let sample = try #require(Self.samples[key.name], "key '\(key.name)' has no sample")
            let parts = key.name.split(separator: ".")
            let line = parts.count == 2 ? "\(parts[0]): {\(parts[1]): \(sample)}" : sample
            let text = line.hasPrefix("url:") || line.hasPrefix("archives:") ? line : "\(base)\n\(line)"
            let tileset = try Self.resolved(text)
            let isOther = tileset.canonicalJSON != plain.canonicalJSON
            #expect(
                isOther == key.reachesWorkers, "\(key.name): \(String(decoding: tileset.canonicalJSON, as: UTF8.self))")
            var received = try Tileset(canonicalJSON: tileset.canonicalJSON)
            (received.packs, received.saysZooms) = (tileset.packs, tileset.saysZooms)
            #expect(received == tileset, "\(key.name)")
        }
    }
}
