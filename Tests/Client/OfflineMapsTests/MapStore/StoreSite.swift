import CatalogFormat
import Digests
import Files
import Foundation
import PackageFiles
import Packages
import StyleFormat
import Synchronization
import TestSupport
import Testing
import TileBodies
import Tiles

@testable import OfflineMaps

/// A signed catalog on a real server, with real packages, and the folder of a store.
final class StoreSite {
    /// What the server has, and what it does.
    final class Files: Sendable {
        struct State {
            var bodies: [String: [UInt8]] = [:]
            var statuses: [String: Int] = [:]
            /// What the server asks to wait with a status.
            var waits: [String: String] = [:]
            /// Files of which only so many bytes are sent; then the connection stays open.
            var stalls: [String: Int] = [:]
            /// Bytes of each file that were sent.
            var sent: [String: Int] = [:]
            /// How long a file stays fresh, in seconds; otherwise the server does not say.
            var ages: [String: Int] = [:]
        }
        let state = Mutex(State())

        func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
            state.withLock { state in
                let path = String(request.path.drop { $0 == "/" })
                if let status = state.statuses[path] {
                    return .reply(status, headers: state.waits[path].map { [("Retry-After", $0)] } ?? [])
                }
                guard let body = state.bodies[path] else { return .reply(404) }
                let tag = "\"\(Digest(of: body).hex.prefix(12))\""
                if request.headers["if-none-match"] == tag { return .reply(304, headers: [("ETag", tag)]) }
                let start = request.headers["range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
                guard start < body.count else {
                    return .reply(416, headers: [("Content-Range", "bytes */\(body.count)")])
                }
                let rest = Array(body[start...])
                var headers = [("ETag", tag)]
                if let age = state.ages[path] { headers.append(("Cache-Control", "max-age=\(age)")) }
                if start > 0 { headers.append(("Content-Range", "bytes \(start)-\(body.count - 1)/\(body.count)")) }
                if let limit = state.stalls[path] {
                    let sent = Array(rest.prefix(max(0, limit - start)))
                    state.sent[path, default: 0] += sent.count
                    let lines =
                        ["HTTP/1.1 \(start > 0 ? 206 : 200) OK", "Content-Length: \(rest.count)"]
                        + headers.map { "\($0): \($1)" }
                    return .stall(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + sent)
                }
                state.sent[path, default: 0] += rest.count
                return .reply(start > 0 ? 206 : 200, headers: headers, body: rest)
            }
        }
    }

    let scratch: StoreScratch
    let server: ScriptedServer
    let files = Files()
    let key = CatalogSecretKey()
    private var packages: [String: CatalogIndex.Package] = [:]
    private var made: [String: URL] = [:]
    private var styles: [CatalogIndex.Style] = []
    private(set) var sequence: Int64 = 0

    init() throws {
        scratch = try StoreScratch()
        let files = files
        server = try ScriptedServer { files.answer($0) }
    }

    deinit { server.stop() }

    /// How a store of this site is opened.
    func options(_ edit: (inout StoreOptions) -> Void = { _ in }) throws -> StoreOptions {
        var options = StoreOptions(folder: scratch.url, trust: .keys(["\(try key.publicKey)"]))
        options.catalog = URL(string: server.url)
        options.fetcher = URLSessionFetcher(stall: .seconds(20))
        edit(&options)
        return options
    }

    /// Opens a store and starts it.
    func store(_ edit: (inout StoreOptions) -> Void = { _ in }) async throws -> MapStore {
        let store = try await MapStore(alone: try options(edit))
        try await store.start()
        return store
    }

    /// Makes a version of a package, and its patch from the version before.
    @discardableResult
    func add(
        _ id: String, version: Int32 = 1, cell: (Int, Int, Int) = (7, 72, 37), depth: Int = 3, group: String? = nil,
        brokenPatch: Bool = false, withPacks: Bool = false, part: CatalogPart? = nil
    ) throws -> String {
        let map = try TestMap(cell, depth: depth)
        let folder = group.map { "groups/\($0)/" } ?? ""
        let file = scratch.url.appending(path: "site-\(id)-\(group ?? "")-\(version).mbtiles")
        // One tile of each version differs, so that a patch is small.
        try map.write(to: file, text: "\(id) 1", changed: version == 1 ? nil : "\(id) \(version)")
        let patch = try made[folder + id].map {
            try TestMap.patch(from: $0, to: file, name: "site-\(id)-\(group ?? "")-patch\(version)")
        }
        let path = "\(folder)packages/\(version)/\(id).mbtiles"
        let bytes = try serve(file, at: path)
        var patches: [CatalogIndex.Patch] = []
        if let patch {
            let patchPath = "\(folder)patches/\(id)/\(version - 1)-\(version).mbtiles"
            let patchBytes = try serve(patch, at: patchPath)
            patches = [
                CatalogIndex.Patch(
                    from: version - 1, url: patchPath, size: Int64(patchBytes.count),
                    sha256: Digest(of: patchBytes).hex)
            ]
            if brokenPatch { files.state.withLock { $0.bodies[patchPath]?[100] ^= 0xFF } }
        }
        made[folder + id] = file
        let entry = CatalogIndex.Version(
            version: version, tileMask: map.mask.cartoWire, tilesHash: CatalogSample.digest, tileset: "demo",
            minZoom: map.zooms.min, maxZoom: map.zooms.max, attribution: "© Test", dataDate: "2026-11-0\(version)",
            files: [
                CatalogIndex.File(
                    format: "mbtiles", url: path, size: Int64(bytes.count), sha256: Digest(of: bytes).hex)
            ], patches: patches)
        packages[folder + id] = CatalogIndex.Package(
            id: id, edition: folder, region: nil, names: ["en": part?.of ?? id], versions: [entry], part: part)
        if withPacks { packages[folder + id]?.tilePacks = try addPacks(of: file, id, folder, map) }
        return path
    }

    /// Cuts a package into packs, and puts these on the server.
    private func addPacks(of file: URL, _ id: String, _ folder: String, _ map: TestMap) throws -> CatalogIndex.List {
        let home = scratch.url.appending(path: "site-packs/\(folder)")
        var order = TilePacks.Order(package: file, id: id, tileset: "demo")
        (order.mask, order.lacksOnlyEmptyTiles) = (map.mask, true)
        for pack in try TilePacks.cut(order, into: home).packs {
            _ = try serve(home.appending(path: pack.path), at: folder + pack.path)
        }
        let path = "\(folder)regions/\(id).json"
        let list = try serve(home.appending(path: "regions/\(id).json"), at: path)
        return CatalogIndex.List(url: path, size: Int64(list.count), sha256: Digest(of: list).hex)
    }

    /// Puts bytes on the server.
    func serve(_ bytes: [UInt8], at path: String) { files.state.withLock { $0.bodies[path] = bytes } }

    private func serve(_ file: URL, at path: String) throws -> [UInt8] {
        let bytes = [UInt8](try Data(contentsOf: file))
        files.state.withLock { $0.bodies[path] = bytes }
        return bytes
    }

    /// Makes a version of a package in parts, one for each cell; parts of which nothing is said keep their bytes.
    func add(
        _ id: String, version: Int32 = 1, parts cells: [(Int, Int, Int)], unchanged: Set<Int> = [], depth: Int = 3,
        group: String? = nil
    ) throws {
        let folder = group.map { "groups/\($0)/" } ?? ""
        for known in packages.keys.filter({ packages[$0]?.part?.of == id && packages[$0]?.edition == folder }) {
            let number = packages[known]?.part?.number ?? 0
            if number > cells.count { packages[known] = nil }
        }
        for (index, cell) in cells.enumerated() {
            let part = CatalogPart(of: id, number: index + 1, count: cells.count)
            guard unchanged.contains(index + 1), var known = packages[folder + part.id] else {
                try add(part.id, version: version, cell: cell, depth: depth, group: group, part: part)
                continue
            }
            // The same bytes at the path of the new version.
            let file = known.versions[0].files[0]
            let path = "\(folder)packages/\(version)/\(part.id).mbtiles"
            files.state.withLock { $0.bodies[path] = $0.bodies[file.url] }
            known.versions[0].version = version
            known.versions[0].files[0].url = path
            known.versions[0].patches = []
            known.part = part
            packages[folder + part.id] = known
        }
    }

    /// Attaches a companion to a package.
    ///
    /// - Parameters:
    ///   - area: The package whose area it has; `nil` is its own.
    ///   - previous: The bytes of the version before, from which there is a patch; `nil` for none.
    ///   - patched: What the patch makes; `nil` is right.
    /// - Returns: Its path on the server.
    @discardableResult
    func attach(
        _ id: String, kind: String = "routing.valhalla", version: Int32 = 1, bytes: [UInt8], engine: String? = "3.6",
        area: String? = nil, previous: [UInt8]? = nil, patched: [UInt8]? = nil
    ) throws -> String {
        let folder = "groups/\(CatalogCompanion.group(of: kind))/"
        let path = "\(folder)packages/\(version)/\(id).vtiles"
        serve(bytes, at: path)
        let mask = try #require(packages[area ?? id]?.versions.first?.tileMask)
        let entry = CatalogIndex.Version(
            version: version, tileMask: mask, tilesHash: CatalogSample.digest, dataDate: "2026-10-0\(version)",
            companion: CatalogCompanion(kind: kind, fileExtension: ".vtiles", engine: engine),
            files: [
                CatalogIndex.File(
                    format: "opaque", url: path, size: Int64(bytes.count), sha256: Digest(of: bytes).hex)
            ],
            patches: try previous.map { [try patch(id, folder, to: version, from: $0, making: patched ?? bytes)] } ?? []
        )
        packages[folder + id] = CatalogIndex.Package(
            id: id, edition: folder, region: nil, names: ["en": id], versions: [entry])
        return path
    }

    /// Adds a style pack with one source, sprites and glyphs, or replaces it.
    ///
    /// - Returns: Its path on the server.
    @discardableResult func addStyle(_ id: String, version: Int32 = 1) throws -> String {
        let pack = scratch.url.appending(path: "site-style-\(id)-\(version)", directoryHint: .isDirectory)
        let address = "https://maps.example.com"
        let files: [(url: String, kind: StyleResource.Kind, path: String, text: String)] = [
            (
                "\(address)/style.json", .style, "style.original.json",
                #"{"version":8,"sources":{"demo":{"type":"vector","tiles":["\#(address)/{z}/{x}/{y}.pbf"]}},"#
                    + #""sprite":"\#(address)/sprite","glyphs":"\#(address)/fonts/{fontstack}/{range}.pbf","layers":[]}"#
            ),
            ("\(address)/fonts/Open%20Sans/0-255.pbf", .glyphs, "glyphs/Open Sans/0-255.pbf", "glyphs"),
            ("\(address)/sprite.json", .spriteJSON, "sprites/default/sprite.json", "{}"),
            ("\(address)/sprite.png", .spriteImage, "sprites/default/sprite.png", "png \(version)"),
        ]
        var entries: [StylePackIndex.Entry] = []
        for file in files {
            let bytes = Array(file.text.utf8)
            try PackFile.write(bytes, to: pack.appending(path: file.path))
            entries.append(
                StylePackIndex.Entry(
                    url: file.url, kind: file.kind, path: file.path, size: UInt64(bytes.count),
                    sha256: Digest(of: bytes).hex, etag: nil, modified: nil))
        }
        let index = StylePackIndex(
            name: id, style: files[0].url, choice: StyleChoice(), rewritten: Digest(of: [UInt8]()), entries: entries)
        try PackFile.write(try index.encoded(), to: pack.appending(path: "style-pack.json"))
        let archive = scratch.url.appending(path: "site-style-\(id)-\(version).zip")
        try StoredZip.write(entries.compactMap(\.path) + ["style-pack.json"], of: pack, to: archive)
        let path = "styles/\(version)/\(id).zip"
        let bytes = try serve(archive, at: path)
        styles.removeAll { $0.id == id }
        styles.append(
            CatalogIndex.Style(
                id: id, name: id, version: version, url: path, size: Int64(bytes.count), sha256: Digest(of: bytes).hex))
        return path
    }

    /// Makes a patch of a companion and puts it on the server.
    private func patch(
        _ id: String, _ folder: String, to version: Int32, from old: [UInt8], making new: [UInt8]
    ) throws -> CatalogIndex.Patch {
        let files = ["old", "new", "patch"].map { scratch.url.appending(path: "site-opaque-\($0)") }
        try Data(old).write(to: files[0])
        try Data(new).write(to: files[1])
        try Patch.makeOpaque(old: files[0], new: files[1], into: files[2], replacing: true)
        let path = "\(folder)patches/\(id)/\(version - 1)-\(version).opaque.patch"
        let bytes = try serve(files[2], at: path)
        return CatalogIndex.Patch(
            from: version - 1, format: "opaque", url: path, size: Int64(bytes.count), sha256: Digest(of: bytes).hex)
    }

    /// Takes a package out of the catalog.
    func drop(_ id: String) { packages[id] = nil }

    /// Signs and publishes the list.
    func publish(sequence wanted: Int64? = nil) throws {
        sequence = wanted ?? sequence + 1
        var index = CatalogIndex()
        index.sequence = sequence
        index.styles = styles
        index.packages = packages.sorted { $0.key < $1.key }.map(\.value)
        index.editions = Set(packages.values.map(\.edition)).union([""]).sorted().map { path in
            let group = path.isEmpty ? nil : path.split(separator: "/").last.map(String.init)
            let list = CatalogIndex.List(url: path + "packages.json", size: 1, sha256: CatalogSample.digest)
            return CatalogIndex.Edition(
                path: path, group: group, language: nil, list: list,
                packages: packages.values.count { $0.edition == path }, sizes: [:])
        }
        let bytes = try index.encoded()
        let signature = try CatalogSignature(signing: bytes, Digest(of: bytes), with: key, earlier: nil)
        let signed = [UInt8](try JSONEncoder().encode(signature))
        files.state.withLock { state in
            state.bodies["catalog.json"] = bytes
            state.bodies["catalog.json.sig"] = signed
        }
    }

    func answer(_ status: Int?, at path: String, retryAfter: String? = nil) {
        files.state.withLock { ($0.statuses[path], $0.waits[path]) = (status, retryAfter) }
    }
    func stall(_ path: String, at bytes: Int?) { files.state.withLock { $0.stalls[path] = bytes } }
    func setAge(_ seconds: Int, of paths: [String]) {
        files.state.withLock { state in for path in paths { state.ages[path] = seconds } }
    }
    /// Everything that the server has.
    var paths: [String] { files.state.withLock { $0.bodies.keys.sorted() } }
    func sent(_ path: String) -> Int { files.state.withLock { $0.sent[path] ?? 0 } }
    func bytes(_ path: String) -> [UInt8] { files.state.withLock { $0.bodies[path] ?? [] } }
    func size(_ path: String) -> Int { files.state.withLock { $0.bodies[path]?.count ?? 0 } }
    /// Requests of files, without those of the list.
    var requests: [String] {
        server.requests.map { String($0.path.drop { $0 == "/" }) }.filter { !$0.hasPrefix("catalog.json") }
    }
}

extension MapStore {
    /// The last states of the tasks that a call adds.
    func states(_ body: @Sendable (MapStore) async throws -> [TaskID]) async throws -> [TaskState] {
        let events = events
        var open = Set(try await body(self))
        let ids = open.sorted()
        var ends: [TaskID: TaskState] = [:]
        for await event in events where !open.isEmpty {
            guard case .task(let task) = event, task.state.isFinal, open.remove(task.id) != nil else { continue }
            ends[task.id] = task.state
            if open.isEmpty { break }
        }
        return ids.compactMap { ends[$0] }
    }

    /// Whether the rules, `usage` and the disk agree about the bytes of the store; without those of unit files.
    func agreesWithTheDisk() async throws -> Bool {
        let (usage, folder) = (try await usage(), worker.folder)
        var found = StoreScan.parts(folder).values.reduce(0, +)
        for home in [folder.units, folder.packs] {
            found += StoreScan.bytes(below: home)
            let files = FileManager.default.enumerator(atPath: home.path)
            while let path = files?.nextObject() as? String {
                guard path.hasSuffix("/" + InstalledFileDocument.name) else { continue }
                found -= StoreScan.size(home.appending(path: path)) ?? 0
            }
        }
        return await worker.machine?.used == found && usage.total - usage.ambient == found
    }

    /// Waits for an event.
    func wait(
        in events: StoreEvents, for isWanted: @Sendable (StoreEvent) -> Bool
    ) async -> StoreEvent? {
        for await event in events where isWanted(event) { return event }
        return nil
    }

    /// Waits until the first half of a file has been received.
    func waitForHalf(of size: Int, in events: StoreEvents) async {
        _ = await wait(in: events) { event in
            if case .task(let task) = event { task.progress.fraction > 0 } else { false }
        }
        // The last bytes need not change the whole percent.
        while StoreScan.parts(worker.folder).values.first != UInt64(size / 2) { await Task.yield() }
    }

    /// Whether the tile of a map's cell is there and names a text, as ``TestMap`` wrote it.
    nonisolated func shows(_ text: String, _ map: TestMap) throws -> Bool {
        guard case .found(let tile) = try tiles.tile(map.cell) else { return false }
        let body = String(decoding: try Gzip.decompress([UInt8](tile.body)), as: UTF8.self)
        return body.contains("\(text) \(map.cell)")
    }
}
