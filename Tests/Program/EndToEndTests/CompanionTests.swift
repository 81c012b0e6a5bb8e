import CatalogFormat
import Digests
import Files
import Foundation
import TestSupport
import Testing
import Tiles

/// Files that belong to packages: attached, pushed, installed over HTTP, updated, killed in between, removed.
@Suite(.serialized, .timeLimit(.programs))
struct CompanionTests {
    private let scratch: Scratch
    private let catalog: URL
    private let key: URL
    private let graph: [UInt8]

    init() throws {
        scratch = try Scratch()
        (catalog, key) = (scratch.url("catalog"), scratch.url("catalog.key"))
        var random = SplitMix(state: 7)
        graph = (0..<3_000_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    /// A web server with the files of a folder; it answers ranges.
    private final class FolderServer: Sendable {
        let server: ScriptedServer

        init(_ folder: URL) throws {
            server = try ScriptedServer { request in
                let path = String(request.path.drop { $0 == "/" })
                guard let body = try? [UInt8](Data(contentsOf: folder.appending(path: path))) else {
                    return .reply(404)
                }
                let start = request.headers["range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
                let tag = ("ETag", "\"\(Digest(of: body).hex.prefix(12))\"")
                guard start < body.count else {
                    return .reply(416, headers: [("Content-Range", "bytes */\(body.count)")])
                }
                let range = ("Content-Range", "bytes \(start)-\(body.count - 1)/\(body.count)")
                return .reply(
                    start > 0 ? 206 : 200, headers: start > 0 ? [tag, range] : [tag], body: Array(body[start...]))
            }
        }

        deinit { server.stop() }
    }

    private func run(_ arguments: [String], fails: Bool = false) async throws -> Program.Outcome {
        let outcome = try await Program.run(arguments, in: scratch)
        #expect((outcome.status == 0) != fails, "\(arguments): \(outcome.output)\(outcome.errors)")
        return outcome
    }

    private func json(_ text: String) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    }

    /// A signed catalog with a map of Liechtenstein.
    ///
    /// - Returns: The public key.
    private func publish() async throws -> String {
        let origin = try await DemoOrigin(in: scratch)
        try FileManager.default.createDirectory(at: catalog, withIntermediateDirectories: true)
        try Data(#"{"packages":[]}"#.utf8).write(to: catalog.appending(path: "packages.json"))
        let made = try await run(["catalog", "keygen", key.path])
        let map = scratch.url("LI.mbtiles").path
        _ = try await run([
            "build", "LI", "--tileset", origin.tileset, "--zoom", "0-8", "-o", map, "--progress", "none",
        ])
        _ = try await run(
            ["catalog", "import", catalog.path, map, "--id", "LI", "--tileset", "demo", "--signing-key", key.path])
        return made.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func attach(_ bytes: [UInt8], _ more: String...) async throws -> Program.Outcome {
        let file = scratch.url("LI.vtiles")
        try Data(bytes).write(to: file)
        return try await run(
            [
                "catalog", "attach", catalog.path, "LI", file.path, "--kind", "routing.valhalla", "--signing-key",
                key.path,
            ]
                + more)
    }

    private func installed(_ store: URL) async throws -> [String: Any]? {
        try json(try await run(["device", "list", "--installed", "--json", "--store", store.path]).output).first
    }

    private func companion(_ store: URL) async throws -> [UInt8]? {
        let all = try await installed(store)?["companions"] as? [[String: Any]]
        guard let path = all?.first?["file"] as? String else { return nil }
        return Array(try Data(contentsOf: URL(filePath: path)))
    }

    @Test func aFileTravelsWithItsMap() async throws {
        let publicKey = try await publish()
        let dry = try await attach(graph, "--engine", "3.6", "--dry-run")
        #expect(dry.errors.contains("would be published"), "\(dry.errors)")
        #expect(!FileManager.default.fileExists(atPath: catalog.appending(path: "groups").path))
        let first = try await attach(graph, "--engine", "3.6", "--data-date", "2026-11-01")
        #expect(first.output.contains("groups/routing-valhalla/packages/1/LI.vtiles"))
        #expect(try await attach(graph, "--engine", "3.6", "--data-date", "2026-11-01").errors.contains("unchanged"))
        // A folder.
        let folder = scratch.url("segments/deep")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("cell".utf8).write(to: folder.appending(path: "E5_N45.rd5"))
        let archive = try await run(
            [
                "catalog", "attach", catalog.path, "LI", scratch.url("segments").path, "--kind", "routing.brouter",
                "--signing-key", key.path, "--json",
            ])
        #expect(archive.output.contains("groups/routing-brouter/packages/1/LI.tar"), "\(archive.output)")
        let listed = try json(try await run(["catalog", "list", catalog.path, "--json"]).output)
        #expect(listed.map { $0["kind"] as? String } == [nil, "routing.brouter", "routing.valhalla"])
        let unsigned = try await run(
            ["catalog", "detach", catalog.path, "LI", "--kind", "routing.brouter"], fails: true)
        #expect(unsigned.errors.contains("--signing-key"))
        _ = try await run(["catalog", "verify", catalog.path, "--public-key", publicKey])

        // What is served is a pushed copy.
        let site = scratch.url("site")
        _ = try await run(["catalog", "push", catalog.path, site.path])
        let server = try FolderServer(site)
        _ = try await run(["catalog", "verify", server.server.url, "--public-key", publicKey])
        let store = scratch.url("store")
        let from = ["--catalog", server.server.url, "--public-key", publicKey, "--store", store.path]
        let missing = try await run(["device", "install", "LI", "--with", "contours"] + from, fails: true)
        #expect(
            missing.status == 66 && missing.errors.contains("routing.brouter, routing.valhalla"), "\(missing.errors)")
        _ = try await run(["device", "install", "LI", "--with", "routing.valhalla"] + from)
        #expect(try await companion(store) == graph)
        let map = try await Device.file("LI", in: store, scratch)
        #expect(try Data(contentsOf: map) == Data(contentsOf: scratch.url("LI.mbtiles")))

        // The next graph; the map is the same.
        let next = Array(graph.reversed())
        _ = try await attach(next, "--engine", "3.7")
        _ = try await run(["catalog", "push", catalog.path, site.path, "--prune"])
        _ = try await run(["device", "quota", "--previous", "1", "--store", store.path])
        let planned = try await run(["device", "update", "--dry-run", "--store", store.path])
        #expect(planned.output.contains("  companions of 3.00 MB"), "\(planned.output)")
        #expect(!planned.output.contains("whole file") && !planned.output.contains("patch"), "\(planned.output)")
        _ = try await run(["device", "update", "--store", store.path])
        #expect(try await companion(store) == next)
        try await compare()
        _ = try await run(["device", "verify", "--deep", "--store", store.path])
        _ = try await run(["device", "rollback", "LI", "--store", store.path])
        #expect(try await companion(store) == graph)
        let absent = try await run(
            ["device", "install", "LI", "--without", "routng", "--store", store.path], fails: true)
        #expect(absent.status == 65 && absent.errors.contains("'routng'"), "\(absent.errors)")
        #expect(absent.errors.contains("routing.valhalla"), "\(absent.errors)")
        _ = try await run(["device", "install", "LI", "--without", "routing", "--store", store.path])
        #expect(try await companion(store) == nil)
        #expect(try await installed(store) != nil)
        _ = try await run(["device", "remove", "LI", "--store", store.path])
        #expect(try await installed(store) == nil)

        _ = try await run(["catalog", "prune", catalog.path, "--keep", "1", "--signing-key", key.path])
        _ = try await run(
            ["catalog", "detach", catalog.path, "LI", "--kind", "routing.brouter", "--signing-key", key.path])
        _ = try await run(["catalog", "verify", catalog.path, "--public-key", publicKey])
        _ = try await run(["catalog", "remove", catalog.path, "LI", "--signing-key", key.path])
        #expect(try json(try await run(["catalog", "list", catalog.path, "--json"]).output).isEmpty)
        _ = try await run(["catalog", "verify", catalog.path, "--public-key", publicKey])
    }

    /// A comparison says what patches weigh.
    private func compare() async throws {
        let live = scratch.url("live")
        try FileManager.default.copyItem(at: catalog, to: live)
        let third = try await attach(Array(graph.reversed().dropFirst(10_000)), "--engine", "3.7")
        #expect(third.errors.contains("; patch from version 2: "), "\(third.errors)")
        let words = ["catalog", "diff", catalog.path, live.path]
        let shown = try await run(words + ["--bytes"])
        #expect(shown.output.contains("PATCHES") && shown.output.contains("from 2: "), "\(shown.output)")
        #expect(try await !run(words).output.contains("PATCHES"))
        let printed = try await run(words + ["--json"]).output
        try JSONReference().read(printed, as: "catalog-difference")
        let value = try #require(try JSONSerialization.jsonObject(with: Data(printed.utf8)) as? [String: Any])
        let content = try #require((value["packages"] as? [[String: Any]])?.first?["new"] as? [String: Any])
        let patches = try #require(content["patches"] as? [[String: Any]])
        #expect(patches.map { $0["from"] as? Int } == [2] && patches.map { $0["format"] as? String } == ["opaque"])
    }

    @Test func aKilledDeviceHasBothFilesOrNone() async throws {
        let publicKey = try await publish()
        _ = try await attach(graph, "--engine", "3.6")
        let server = try FolderServer(catalog)
        func order(_ store: URL) -> [String] {
            [
                "device", "install", "LI", "--with", "routing", "--catalog", server.server.url, "--public-key",
                publicKey,
                "--store", store.path,
            ]
        }
        let calm = try await run(order(scratch.url("calm")))
        var random = SplitMix(state: 11)
        var interrupted = 0
        for attempt in 0..<15 {
            let store = scratch.url("store-\(attempt)")
            let process = try Daemon(order(store), in: scratch)
            try await Task.sleep(for: calm.duration * Double(random.next() % 1_000) / 1_000)
            if process.isRunning {
                interrupted += 1
                try await process.killNow()
            }
            if FileManager.default.fileExists(atPath: store.appending(path: "store.sqlite").path) {
                let held = try await installed(store)
                let count = (held?["companions"] as? [Any])?.count
                #expect(held == nil || count == 1, "attempt \(attempt): \(held ?? [:])")
            }
            _ = try await run(order(store))
            #expect(try await companion(store) == graph, "attempt \(attempt)")
            _ = try await run(["device", "verify", "--deep", "--store", store.path])
            try FileManager.default.removeItem(at: store)
        }
        #expect(interrupted > 0, "no attempt was killed")
    }

    /// There is a third state: the new version is listed before its patch, or that none pays.
    @Test(arguments: [false, true])
    func aKilledAttachLeavesTheOldCatalogOrTheNewOne(withPatch: Bool) async throws {
        let publicKey = try await publish()
        _ = try await attach(graph)
        let file = scratch.url("next.vtiles")
        let next = withPatch ? Array(graph[1_000_000...] + graph[..<1_000_000]) : graph.reversed()
        try Data(next).write(to: file)
        func order(_ folder: URL, _ more: String...) -> [String] {
            [
                "catalog", "attach", folder.path, "LI", file.path, "--kind", "routing.valhalla", "--signing-key",
                key.path,
            ] + more
        }
        let (whole, listed) = (scratch.url("whole"), scratch.url("listed"))
        for folder in [whole, listed] { try FileManager.default.copyItem(at: catalog, to: folder) }
        let calm = try await run(order(whole))
        _ = try await run(order(listed, "--patches-from", "0"))
        func document(_ folder: URL) throws -> Data { try Data(contentsOf: folder.appending(path: "catalog.json")) }
        let (old, new, between) = (try document(catalog), try document(whole), try document(listed))
        #expect(calm.errors.contains("patch from version 1") == withPatch, "\(calm.errors)")
        var random = SplitMix(state: 13)
        var interrupted = 0
        for attempt in 0..<20 {
            let folder = scratch.url("copy-\(attempt)")
            try FileManager.default.copyItem(at: catalog, to: folder)
            let process = try Daemon(order(folder), in: scratch)
            try await Task.sleep(for: calm.duration * Double(random.next() % 1_000) / 1_000)
            if process.isRunning {
                interrupted += 1
                try await process.killNow()
            }
            let seen = try document(folder)
            #expect([old, between, new].contains(seen), "attempt \(attempt)")
            _ = try await run(order(folder))
            #expect(try document(folder) == new, "attempt \(attempt)")
            _ = try await run(["catalog", "verify", folder.path, "--public-key", publicKey])
            try FileManager.default.removeItem(at: folder)
        }
        #expect(interrupted > 0, "no attempt was killed")
    }
}
