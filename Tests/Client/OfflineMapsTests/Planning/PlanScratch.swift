import CatalogFormat
import Digests
import Files
import Foundation
import PackageFiles
import Packages
import Synchronization
import TestSupport
import Tiles

@testable import OfflineMaps

/// A store's folder, a catalog on a server, and the steps that a task makes of a plan.
///
/// What it does is what the actor of the store does; the rules that say when are tested elsewhere.
final class PlanScratch {
    let store: StoreScratch
    let server: ScriptedServer
    var view: PlanView
    private let files: Files
    private let site: URL
    let fetcher = URLSessionFetcher(stall: .seconds(20))
    var defaultStyle: URL?

    /// What the server has, and what it said to whom.
    final class Files: Sendable {
        let bodies = Mutex<[String: [UInt8]]>([:])
        /// Statuses that are answered in place of a body.
        let statuses = Mutex<[String: Int]>([:])
    }

    init() throws {
        store = try StoreScratch()
        site = store.url.appending(path: "site")
        let files = Files()
        self.files = files
        server = try ScriptedServer { request in
            if let status = files.statuses.withLock({ $0[request.path] }) { return .reply(status) }
            guard let body = files.bodies.withLock({ $0[request.path] }) else { return .reply(404) }
            let tag = "\"\(Digest(of: body).hex.prefix(8))\""
            if request.headers["if-none-match"] == tag { return .reply(304, headers: [("ETag", tag)]) }
            return .reply(200, headers: [("ETag", tag), ("Cache-Control", "max-age=3600")], body: body)
        }
        view = PlanView(
            address: URL(string: server.url + "/catalog.json"), content: CatalogContent(), rows: StoreRows(),
            regions: [:], groups: [])
    }

    deinit { server.stop() }

    var folder: StoreFolder { store.folder }
    var planner: Planner {
        Planner(folder: folder, fetcher: fetcher, transform: nil, defaultStyle: defaultStyle)
    }

    /// Puts bytes on the server.
    func serve(_ bytes: [UInt8], at path: String) { files.bodies.withLock { $0["/" + path] = bytes } }
    func body(at path: String) -> [UInt8]? { files.bodies.withLock { $0["/" + path] } }
    func answer(_ status: Int?, at path: String) { files.statuses.withLock { $0["/" + path] = status } }

    /// Writes a package, puts it and its packs on the server and into the catalog.
    @discardableResult
    func offer(
        _ id: String, version: Int32 = 1, cell: (Int, Int, Int) = (7, 72, 37), depth: Int = 2, text: String? = nil,
        patchFrom old: URL? = nil, without: Set<TileID> = [], withPacks: Bool = false, group: String? = nil
    ) throws -> URL {
        let map = try TestMap(cell, depth: depth)
        let file = store.url.appending(path: "\(id)-\(group ?? "")\(version).mbtiles")
        try map.write(to: file, text: text ?? "\(id) \(version)", without: without)
        let patch = try old.map { try TestMap.patch(from: $0, to: file, name: "\(id)-patch\(version)") }
        let edition = group.map { "groups/\($0)/" } ?? ""
        var offer = CatalogContent.Offer(
            id: id, group: group, names: [:], version: version, mask: map.mask, zooms: map.zooms, tileset: "demo",
            dataDate: "2026-11-0\(version)", files: [], patches: [])
        offer.files = [try download(file, at: "\(edition)packages/\(version)/\(id).mbtiles", format: "mbtiles")]
        if let patch {
            var entry = try download(patch, at: "patches/\(id)/\(version).mbtiles", format: "mbtiles")
            entry.from = version - 1
            offer.patches = [entry]
        }
        if withPacks {
            var order = TilePacks.Order(package: file, id: id, tileset: "demo")
            (order.mask, order.lacksOnlyEmptyTiles) = (map.mask, true)
            let list = try TilePacks.cut(order, into: site)
            for pack in list.packs {
                serve([UInt8](try Data(contentsOf: site.appending(path: pack.path))), at: pack.path)
            }
            offer.packs = try download(
                site.appending(path: "regions/\(id).json"), at: "regions/\(id).json", format: "packs")
        }
        view.content?.offers.removeAll { $0.id == id && $0.group == group }
        view.content?.offers.append(offer)
        return file
    }

    func download(_ file: URL, at path: String, format: String) throws -> CatalogContent.Download {
        let bytes = [UInt8](try Data(contentsOf: file))
        serve(bytes, at: path)
        return CatalogContent.Download(
            format: format, url: path, size: UInt64(bytes.count), sha256: Digest(of: bytes).hex)
    }

    func plan(_ items: Item..., kind: TaskKind = .install, rule: TaskRule = TaskRule()) async -> DetailedPlan {
        await planner.plan(TaskRecord(id: TaskID(number: 1), kind: kind, items: items, rule: rule), view)
    }

    /// What became of a plan's downloads.
    struct Outcome {
        var verified: [Bool] = []
        var tileBytes: [UInt64?] = []
        var units: [InstalledFile] = []
    }

    /// Downloads, verifies, patches and prepares everything of a plan, and makes it current.
    @discardableResult
    func run(_ plan: DetailedPlan) async throws -> Outcome {
        guard case .plan(let downloads) = plan.answer else {
            throw StoreError(.wrongState, "There is no plan: \(plan.answer)")
        }
        var outcome = Outcome()
        for download in downloads.downloads {
            guard let its = download.details else { throw StoreError(.notFound, "No details of \(download)") }
            if view.rows.files[download.file]?.state == .current {
                if let holder = download.holder { view.rows.holds.insert(Hold(key: download.file.key, item: holder)) }
                continue
            }
            switch download.source {
            case .tile: outcome.tileBytes.append(try await fill(its))
            case .filled: try prepare(download, &outcome)
            case .file:
                outcome.verified.append(try await fetch(download, its))
                if outcome.verified.last == true { try prepare(download, &outcome) }
            }
        }
        return outcome
    }

    private func fetch(_ download: DownloadItem, _ its: DownloadDetails) async throws -> Bool {
        let isPatch = download.patch != nil
        let digest = download.patch?.digest ?? download.file.digest
        guard let part = folder.part(sha256: digest), let url = isPatch ? its.patch : its.address else {
            throw StoreError(.notFound, "No part")
        }
        _ = try await fetcher.file(
            ResourceRequest(url, its.kind, headers: its.headers), into: part, from: 0, limit: 1 << 30
        ) { _ in }
        return isPatch ? try FileInstaller.patch(download, in: folder) : try FileInstaller.verify(download, in: folder)
    }

    private func fill(_ its: DownloadDetails) async throws -> UInt64? {
        let body: FetchedBody
        do throws(FetchError) {
            body = try await fetcher.body(
                ResourceRequest(its.address, its.kind, headers: its.headers), limit: 1 << 20)
        } catch {
            guard error.cause == .notFound else { throw error }
            return try FileInstaller.fill(its, nil, in: folder)
        }
        return try FileInstaller.fill(its, body, in: folder)
    }

    private func prepare(_ download: DownloadItem, _ outcome: inout Outcome) throws {
        var file = try FileInstaller.prepare(download, in: folder, source: nil)
        file.expires = file.expires ?? download.expires
        if let age = download.age { file.age = age }
        if let old = view.rows.current(download.file.key) { view.rows.files[old.id] = nil }
        view.rows.files[file.id] = file
        if let holder = download.holder { view.rows.holds.insert(Hold(key: download.file.key, item: holder)) }
        outcome.units.append(file)
    }
}

extension DetailedPlan {
    var downloads: [DownloadItem] { if case .plan(let plan) = answer { plan.downloads } else { [] } }
    var onlineTiles: UInt64 { if case .plan(let plan) = answer { plan.onlineTiles } else { 0 } }
}
