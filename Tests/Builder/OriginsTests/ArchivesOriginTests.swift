import Errors
import Foundation
import PMTiles
import Synchronization
import TestSupport
import Testing
import TileBodies
import Tiles
import Tilesets

@testable import Origins

/// Sources of several archives, on disk and on a web server.
@Suite(.timeLimit(.minutes(15)))
struct ArchivesOriginTests {
    /// A PNG whose text is the name of its tile.
    private static func body(_ text: String) -> [UInt8] {
        func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
            let covered = Array(type.utf8) + content
            return big(UInt32(content.count)) + covered + big(crc(covered))
        }
        func big(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        return [0x89, 0x50, 0x4E, 0x47, 13, 10, 0x1A, 10]
            + chunk("IHDR", [0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]) + chunk("tEXt", Array("n\0\(text)".utf8))
            + chunk("IDAT", Array("pixels".utf8)) + chunk("IEND", [])
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(0xFFFF_FFFF as UInt32) { crc, byte in
            (0..<8).reduce(crc ^ UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
    }

    /// An archive of these tiles without packing.
    private static func archive(_ tiles: [TileID], _ word: String, metadata: String = "{}") -> [UInt8] {
        var (entries, data) = ([PMTilesDirectory.Entry](), [UInt8]())
        for tile in tiles.sorted(by: { $0.hilbertID < $1.hilbertID }) {
            let body = body("\(word) \(tile)")
            entries.append(.init(tile: tile.hilbertID, run: 1, length: UInt64(body.count), offset: UInt64(data.count)))
            data += body
        }
        let root = PMTilesDirectory(entries: entries).encoded
        var header = PMTilesHeader()
        header.root = .init(offset: 127, length: UInt64(root.count))
        header.metadata = .init(offset: header.root.end, length: UInt64(metadata.utf8.count))
        header.leaves = .init(offset: header.metadata.end, length: 0)
        header.tiles = .init(offset: header.metadata.end, length: UInt64(data.count))
        (header.internalCompression, header.tileCompression) = (1, 1)
        (header.minZoom, header.maxZoom) = (UInt8(tiles.map(\.zoom).min() ?? 0), UInt8(tiles.map(\.zoom).max() ?? 0))
        header.format = .png
        return header.encoded + root + Array(metadata.utf8) + data
    }

    private static func tiles(_ under: String, _ zooms: String) throws -> [TileID] {
        let cell = try #require(TileID(under))
        return Array(TileMask(full: 6).tiles(in: try ZoomRange(parsing: zooms), under: cell))
    }

    /// World to zoom 2, and two of the four archives of zooms 3 to 5, divided at zoom 1.
    private static func files(_ word: String = "a") throws -> [String: [UInt8]] {
        [
            "/planet.pmtiles": archive(
                try tiles("0/0/0", "0-2"), "world",
                metadata: #"{"encoding":"terrarium","tileSize":256,"attribution":"W"}"#),
            "/1-0-0.pmtiles": archive(try tiles("1/0/0", "3-5"), word),
            "/1-1-0.pmtiles": archive(try tiles("1/1/0", "3-5").filter { $0.x % 2 == 0 }, word),
        ]
    }

    /// A server of files that answers requests for parts, with an ETag made of the length.
    private final class Shelf: Sendable {
        let files: Mutex<[String: [UInt8]]>
        let status: Int
        init(_ files: [String: [UInt8]], missing: Int = 404) {
            self.files = Mutex(files)
            status = missing
        }

        func serve() throws -> ScriptedServer {
            try ScriptedServer { [self] request in
                let path = String(request.path.prefix { $0 != "?" })
                guard let bytes = files.withLock({ $0[path] }) else { return .reply(status) }
                let tag = "\"\(bytes.count)-\(bytes.suffix(40).reduce(0) { $0 &* 31 &+ Int($1) } & 0xFFFF)\""
                if let wanted = request.headers["if-match"], wanted != tag { return .reply(412) }
                guard let range = request.headers["range"] else {
                    return .reply(200, headers: [("ETag", tag)], body: bytes)
                }
                let ends = range.dropFirst(6).split(separator: "-").compactMap { Int($0) }
                let part = bytes[ends[0]...min(ends[1], bytes.count - 1)]
                let total = "bytes \(part.startIndex)-\(part.endIndex - 1)/\(bytes.count)"
                return .reply(206, headers: [("ETag", tag), ("Content-Range", total)], body: Array(part))
            }
        }
    }

    private static func fetch(_ origin: any TileOrigin, _ tiles: [TileID]) async throws -> [TileID: FetchedTile.Outcome]
    {
        let found = Mutex<[TileID: FetchedTile.Outcome]>([:])
        try await origin.fetch(tiles) { group in
            found.withLock { found in
                for tile in group {
                    #expect(found[tile.tile] == nil, "\(tile.tile) was delivered twice")
                    found[tile.tile] = tile.outcome
                }
            }
        }
        return found.withLock(\.self)
    }

    private static func text(_ base: String) -> String {
        """
        id: dem
        archives:
          - {url: "\(base)/planet.pmtiles", zoom: 0-2}
          - {url: "\(base)/1-{x}-{y}.pmtiles", zoom: 3-5, cell_zoom: 1}
        """
    }

    private static func open(_ text: String, _ folder: URL, mask: TileMask = TileMask(full: 5)) async throws -> (
        Tileset, any TileOrigin
    ) {
        let file = try TilesetFile(text: text, name: "t.yaml", folder: folder)
        let tileset = try await OriginMetadata.resolve(file, environment: [:])
        let narrow = try tileset.narrowed(to: mask, zooms: tileset.zooms)
        let received = try Tileset(canonicalJSON: narrow.canonicalJSON)
        return (received, try await OriginFactory.open(received, environment: [:]))
    }

    private static let all = Array(TileMask(full: 5).tiles(in: ZoomRange(min: 0, max: 5) ?? .all))

    /// What every tile must be.
    private static func check(_ found: [TileID: FetchedTile.Outcome], _ word: String = "a") {
        #expect(found.count == all.count)
        for tile in all {
            let cell = tile.zoom < 3 ? nil : tile.ancestor(atZoom: 1)
            let isThere =
                tile.zoom < 3 || cell?.description == "1/0/0" || cell?.description == "1/1/0" && tile.x % 2 == 0
            guard isThere else {
                #expect(found[tile] == .empty, "\(tile)")
                continue
            }
            guard case .stored(let bytes, _, _)? = found[tile] else {
                Issue.record("\(tile): \(String(describing: found[tile]))")
                continue
            }
            #expect(bytes == body("\(tile.zoom < 3 ? "world" : word) \(tile)"), "\(tile)")
        }
    }

    @Test func filesOfThisMachineAreOneSource() async throws {
        let scratch = try Scratch()
        for (name, bytes) in try Self.files() {
            try Data(bytes).write(to: scratch.folder.appending(path: String(name.dropFirst())))
        }
        let (tileset, origin) = try await Self.open(Self.text("."), scratch.folder)
        #expect(tileset.encoding == .terrarium && tileset.tileSize == 256 && tileset.attribution == "W")
        #expect(tileset.zooms.description == "0-5" && tileset.source.addresses.count == 5)
        // The size in the metadata of the archive is the one at which tiles are shown: pictures of one pixel are kept.
        Self.check(try await Self.fetch(origin, Self.all))
        // The size in the tileset file refuses them.
        let (_, strict) = try await Self.open(Self.text(".") + "\ntile_size: 256", scratch.folder)
        let refused = try await Self.fetch(strict, Array(Self.all.prefix(1)))
        guard case .failed(let cause, let detail)? = refused.values.first else { throw CancellationError() }
        #expect(cause == CauseCode(.leftOut) && detail.contains("tile_size 256"), "\(cause): \(detail)")

        let pinned = try #require(origin as? any PinnedOrigin)
        #expect(try await !pinned.hasChanged(since: .now) && pinned.version.contains("5 archives, 2 of them missing"))
        // A new archive where none was is another version; so is a changed one.
        try Data(Self.archive(try Self.tiles("1/1/1", "3"), "new")).write(
            to: scratch.folder.appending(path: "1-1-1.pmtiles"))
        #expect(try await pinned.hasChanged(since: .now) && pinned.isStale)
        let other = try #require(try await OriginFactory.open(tileset, environment: [:]) as? any PinnedOrigin)
        #expect(other.version != pinned.version)
    }

    @Test func archivesOfAServerAreOpenedWhereTheMaskNeedsThem() async throws {
        let shelf = Shelf(try Self.files())
        let server = try shelf.serve()
        defer { server.stop() }
        let text = Self.text("http://127.0.0.1:\(server.port)") + "\nencoding: mapbox\ntile_size: 256\nformat: png"
        let (tileset, _) = try await Self.open(text, URL(filePath: "/"))
        #expect(tileset.encoding == .mapbox && tileset.originName == "127.0.0.1:\(server.port)")
        var plain = tileset
        (plain.encoding, plain.tileSize) = (nil, nil)
        let origin = try await OriginFactory.open(plain, environment: [:])
        Self.check(try await Self.fetch(origin, Self.all))

        // A mask in one corner: the other archives are not asked for.
        let before = server.requests.count
        let corner = TileMask(tiles: [try #require(TileID("5/1/1"))], maxZoom: 5)
        let (narrow, _) = try await Self.open(text, URL(filePath: "/"), mask: corner)
        #expect(narrow.source.addresses.count == 2)
        let asked = Set(server.requests.dropFirst(before).map(\.path))
        #expect(asked == ["/planet.pmtiles", "/1-0-0.pmtiles"])

        // Each archive is pinned by itself: one that is replaced is found, by the batch that reads it.
        let pinned = try #require(origin as? any PinnedOrigin)
        let begin = ContinuousClock.now
        let replaced = Self.archive(try Self.tiles("1/0/0", "3-5"), "later")
        shelf.files.withLock { $0["/1-0-0.pmtiles"] = replaced }
        _ = try await Self.fetch(origin, [try #require(TileID("3/6/1"))])
        #expect(try await !pinned.hasChanged(since: begin))
        let error = await #expect(throws: OriginsError.self) {
            try await Self.fetch(origin, [try #require(TileID("5/2/2"))])
        }
        #expect(error?.code == .busy)
        #expect(try await pinned.hasChanged(since: begin))
    }

    @Test(arguments: [404, 410, 403, 500]) func aRefusalIsNoMissingArchive(_ status: Int) async throws {
        let server = try Shelf(try Self.files(), missing: status).serve()
        defer { server.stop() }
        let text = Self.text("http://127.0.0.1:\(server.port)") + "\nformat: png"
        do {
            let (_, origin) = try await Self.open(text, URL(filePath: "/"))
            #expect(status == 404 || status == 410)
            #expect((origin as? any PinnedOrigin)?.version.contains("2 of them missing") == true)
        } catch let error as OriginsError {
            #expect(status == 403 || status == 500, "\(error)")
            guard status == 403 else { return }
            let (_, origin) = try await Self.open(text + "\nempty_statuses: [403]", URL(filePath: "/"))
            #expect((origin as? any PinnedOrigin)?.version.contains("2 of them missing") == true)
        }
    }

    @Test func anIndexIsReadAndItsSizesHold() async throws {
        let files = try Self.files()
        let items = files.map { name, bytes in
            let zooms = name == "/planet.pmtiles" ? #""min_zoom":0,"max_zoom":2"# : #""min_zoom":3,"max_zoom":5"#
            return #"{"name":"\#(name.dropFirst())","size":\#(bytes.count),\#(zooms)}"#
        }
        let index = #"{"version":"1","items":[\#(items.joined(separator: ","))]}"#
        let shelf = Shelf(files.merging(["/urls.json": Array(index.utf8)]) { $1 })
        let server = try shelf.serve()
        defer { server.stop() }
        let text = "id: dem\narchives: http://127.0.0.1:\(server.port)/urls.json\nformat: png"
        let (tileset, _) = try await Self.open(text, URL(filePath: "/"))
        #expect(
            tileset.source.addresses.count == 3 && tileset.encoding == .terrarium && tileset.zooms.description == "0-5")
        var plain = tileset
        (plain.encoding, plain.tileSize) = (nil, nil)
        Self.check(try await Self.fetch(try await OriginFactory.open(plain, environment: [:]), Self.all))
        shelf.files.withLock { $0["/1-0-0.pmtiles"]?.append(0) }
        let error = await #expect(throws: OriginsError.self) { try await OriginFactory.open(plain, environment: [:]) }
        #expect(error?.code == .badArchive && error?.message.contains("its index says") == true)
        // The same from a folder, as a mirror has it.
        let scratch = try Scratch()
        for (name, bytes) in files {
            try Data(bytes).write(to: scratch.folder.appending(path: String(name.dropFirst())))
        }
        try Data(index.utf8).write(to: scratch.folder.appending(path: "urls.json"))
        let local = try TilesetFile(source: "archives:urls.json", folder: scratch.folder, format: "png")
        #expect(try await OriginMetadata.resolve(local, environment: [:]).source.addresses.count == 3)
    }

    @Test func whatIsNoArchiveIsNamed() async throws {
        let scratch = try Scratch()
        try Data("hello".utf8).write(to: scratch.folder.appending(path: "planet.pmtiles"))
        let text = "archives: [{url: planet.pmtiles, zoom: 0-2}]\nformat: png"
        let error = await #expect(throws: OriginsError.self) {
            try await Self.open(text, scratch.folder, mask: TileMask(full: 2))
        }
        #expect(error?.code == .badArchive)
        let none = await #expect(throws: OriginsError.self) {
            try await Self.open("archives: urls.json", scratch.folder, mask: TileMask(full: 2))
        }
        #expect(none?.code == .unreadable && none?.message.contains("urls.json") == true)
        // A tileset that was not narrowed says so.
        let wide = try TilesetFile(text: Self.text("."), name: "t", folder: scratch.folder)
        var metadata = SourceMetadata()
        (metadata.format, metadata.zooms) = (.png, .all)
        let open = try wide.resolved(metadata: metadata)
        let template = await #expect(throws: OriginsError.self) { try await OriginFactory.open(open, environment: [:]) }
        #expect(template?.code == .tileset)
    }
}
