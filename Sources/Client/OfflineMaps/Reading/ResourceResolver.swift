internal import Errors
internal import Files
public import Foundation
internal import PackageFiles
internal import StyleFormat
internal import TextFormats

/// Finds a style, TileJSON, tile, glyph range or sprite by the address that a renderer requests.
///
/// Synchronous; any number of threads may call it, and none waits for an update.
public final class ResourceResolver: Sendable {
    /// The style packs and tile addresses of one moment.
    final class ResourceSnapshot: Sendable {
        let packs: [(id: String, pack: StylePack)]
        /// The styles that are known to be damaged and cannot be opened.
        let damaged: [String: StoreError]
        let templates: [(template: TileTemplate, tileset: String)]
        /// The units that have tiles.
        let maps: [InstalledFile]

        init(_ packs: [(id: String, pack: StylePack)], damaged: [String: StoreError], _ units: [InstalledFile]) {
            (self.packs, self.damaged) = (packs, damaged)
            maps = units.filter { $0.mask != nil && $0.format != .opaque }
            var seen: Set<TileTemplate> = []
            templates = maps.compactMap { unit in
                guard let template = unit.template.flatMap({ TileTemplate($0) }), seen.insert(template).inserted
                else { return nil }
                return (template, unit.tileset ?? unit.item.identifier)
            }
        }
    }

    let tiles: TileReader
    let folder: StoreFolder
    /// What is viewed; `nil` without a network.
    let web: WebResources?
    private let box: SnapshotBox<ResourceSnapshot>

    /// Reads the style packs among the units, and the tiles of `tiles`.
    ///
    /// - Parameter web: For ``load(_:asks:)``; `nil` for a resolver without ambient cache and network.
    /// - Throws: `damaged` for a style pack that cannot be opened and is not known to be damaged.
    init(
        _ folder: StoreFolder, _ units: [InstalledFile], tiles: TileReader, web: WebResources? = nil
    ) throws(StoreError) {
        self.folder = folder
        self.tiles = tiles
        self.web = web
        box = SnapshotBox(try Self.snapshot(folder, units))
    }

    /// Puts other units in place.
    ///
    /// - Throws: `damaged`; then the units before stay.
    func replace(_ units: [InstalledFile]) throws(StoreError) { box.replace(try Self.snapshot(folder, units)) }

    /// The style packs and tile addresses of this moment.
    var snapshot: ResourceSnapshot { box.load() }

    private static func snapshot(_ folder: StoreFolder, _ units: [InstalledFile]) throws(StoreError) -> ResourceSnapshot
    {
        var packs: [(id: String, pack: StylePack)] = []
        var damaged: [String: StoreError] = [:]
        for unit in units {
            guard case .style(let id) = unit.item, let file = folder.file(unit.path) else { continue }
            do throws(StylesError) { packs.append((id, try open(file))) } catch {
                let damage = StoreError(
                    .damaged, "The style pack '\(unit.path)' cannot be read: \(Sentence.inner(error.message))",
                    advice: "Download it again, or repair the store.", cause: error)
                guard unit.state == .damaged else { throw damage }
                damaged[id] = damage
            }
        }
        return ResourceSnapshot(packs, damaged: damaged, units)
    }

    /// Opens the pack next to its archive; unpacks it where that was not done or not finished.
    private static func open(_ archive: URL) throws(StylesError) -> StylePack {
        let folder = StyleFiles.folder(of: archive)
        if !StylePack.looksLikePack(folder) {
            // Each process unpacks into a folder of its own.
            let new = TemporaryName.nextTo(folder)
            do {
                try FileManager.default.createDirectory(at: new, withIntermediateDirectories: true)
                try StoredZip.unpack(archive, into: new)
                try FileManager.default.moveItem(at: new, to: folder)
            } catch {
                // What stays is removed by the next process that unpacks.
                try? FileManager.default.removeItem(at: new)
                // Another process was faster; its pack has the same bytes.
                guard StylePack.looksLikePack(folder) else {
                    if let error = error as? StylesError { throw error }
                    throw StylesError(.io, "'\(archive.path)' cannot be unpacked: \(error.localizedDescription)")
                }
            }
        }
        // Also for a process that ended while another one unpacked.
        removeUnfinished(nextTo: folder)
        return try StylePack(folder)
    }

    /// Removes what processes that ended midway have left.
    ///
    /// A process that is unpacking at this moment finds the pack.
    private static func removeUnfinished(nextTo folder: URL) {
        let home = folder.deletingLastPathComponent()
        // A folder that cannot be listed or emptied keeps some bytes more.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: home.path)) ?? []
        where name.hasPrefix(".pack.") { try? FileManager.default.removeItem(at: home.appending(path: name)) }
    }

    /// A resource of the installed units, by the address that the style has for it; `nil` when it is not here.
    ///
    /// The network is not used. What the server is known not to have is an empty resource.
    ///
    /// - Throws: `damaged` when the resource is here and cannot be read.
    public func resource(_ url: URL) throws(StoreError) -> Resource? {
        let snapshot = box.load()
        let address = url.absoluteString
        for (template, tileset) in snapshot.templates {
            guard let tile = template.tile(address) else { continue }
            if let found = Resource(try tiles.tile(tile, of: tileset)) { return found }
        }
        for (_, pack) in snapshot.packs {
            guard let entry = pack.entry(address) else { continue }
            do throws(StylesError) {
                let bytes = try pack.bytes(of: entry)
                return Resource(
                    body: Data(bytes ?? []), mediaType: Self.mediaType(entry, bytes), etag: entry.etag,
                    isEmpty: bytes == nil)
            } catch {
                throw StoreError(
                    .damaged, "A file of a style pack cannot be read: \(Sentence.inner(error.message))",
                    advice: "Install the style again, or repair the store.", cause: error)
            }
        }
        return try adopted(address)
    }

    /// A resource of an adopted database, without the coding that the database has.
    private func adopted(_ address: String) throws(StoreError) -> Resource? {
        let stored: StoredResource
        switch tiles.resource(address) {
        case .absent: return nil
        case .empty: return .empty
        case .body(let resource, _): stored = resource
        }
        let body = stored.body
        var resource = Resource(
            body: body.bytes, mediaType: body.mediaType, coding: body.coding, etag: stored.etag,
            isStale: body.expires.map { $0 < Date() } ?? false)
        (resource.body, resource.coding) = (try resource.uncompressed(), .plain)
        return resource
    }

    private static func mediaType(_ entry: StylePackIndex.Entry, _ bytes: [UInt8]?) -> String {
        switch entry.kind {
        case .style, .source, .spriteJSON: "application/json"
        case .data: "application/geo+json"
        case .glyphs: "application/x-protobuf"
        case .spriteImage, .image:
            bytes.flatMap { StoredBody.imageType(Data($0)) } ?? "image/png"
        }
    }
}

extension Resource {
    /// What the server does not have.
    static let empty = Resource(body: Data(), mediaType: "application/octet-stream", isEmpty: true)

    /// - Returns: `nil` for a tile that is not here.
    init?(_ answer: TileAnswer) {
        switch answer {
        case .found(let tile):
            self.init(body: tile.body, mediaType: tile.mediaType, coding: tile.coding, isStale: tile.isStale)
            reportDamage = tile.reportDamage
        case .empty: self = .empty
        case .absent: return nil
        }
    }
}
