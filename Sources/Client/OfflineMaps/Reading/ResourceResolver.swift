internal import Errors
public import Foundation
internal import PackageFiles
internal import StyleFormat
internal import TileBodies

/// Finds a style, TileJSON, tile, glyph range or sprite by the address that a renderer requests.
///
/// Synchronous; any number of threads may call it, and none waits for an update.
public final class ResourceResolver: Sendable {
    /// The style packs and tile addresses of one moment.
    final class Shelf: Sendable {
        let packs: [(id: String, pack: StylePack)]
        let templates: [(template: TileTemplate, tileset: String)]
        /// The units that have tiles.
        let maps: [UnitRow]

        init(_ packs: [(id: String, pack: StylePack)], _ units: [UnitRow]) {
            self.packs = packs
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
    private let box: SnapshotBox<Shelf>

    /// Reads the style packs among the units, and the tiles of `tiles`.
    ///
    /// - Parameter web: For ``load(_:)``; `nil` for a resolver without ambient cache and network.
    /// - Throws: `damaged` for a style pack that cannot be opened.
    init(
        _ folder: StoreFolder, _ units: [UnitRow], tiles: TileReader, web: WebResources? = nil
    ) throws(StoreError) {
        self.folder = folder
        self.tiles = tiles
        self.web = web
        box = SnapshotBox(try Self.shelf(folder, units))
    }

    /// Puts other units in place.
    ///
    /// - Throws: `damaged`; then the units before stay.
    func replace(_ units: [UnitRow]) throws(StoreError) { box.replace(try Self.shelf(folder, units)) }

    /// The style packs and tile addresses of this moment.
    var shelf: Shelf { box.load() }

    private static func shelf(_ folder: StoreFolder, _ units: [UnitRow]) throws(StoreError) -> Shelf {
        var packs: [(id: String, pack: StylePack)] = []
        for unit in units {
            guard case .style(let id) = unit.item, let file = folder.file(unit.path) else { continue }
            do throws(StylesError) { packs.append((id, try open(file))) } catch {
                throw StoreError(
                    .damaged, "The style pack '\(unit.path)' cannot be read: \(error.message)",
                    advice: "Install it again, or repair the store.", cause: error)
            }
        }
        return Shelf(packs, units)
    }

    /// Opens the pack next to its archive; unpacks it where that was not done or not finished.
    private static func open(_ archive: URL) throws(StylesError) -> StylePack {
        let folder = archive.deletingLastPathComponent().appending(path: "pack", directoryHint: .isDirectory)
        if StylePack.looksLikePack(folder) { return try StylePack(folder) }
        let new = folder.deletingLastPathComponent().appending(path: ".pack.new", directoryHint: .isDirectory)
        do {
            let files = FileManager.default
            // Of a process that ended midway.
            if files.fileExists(atPath: new.path) { try files.removeItem(at: new) }
            try files.createDirectory(at: new, withIntermediateDirectories: true)
            try StoredZip.unpack(archive, into: new)
            // Another process may have been faster; its pack has the same bytes.
            if !StylePack.looksLikePack(folder) { try files.moveItem(at: new, to: folder) }
        } catch let error as StylesError {
            throw error
        } catch { throw StylesError(.io, "'\(archive.path)' cannot be unpacked: \(error.localizedDescription)") }
        return try StylePack(folder)
    }

    /// A resource of the installed units, by the address that the style has for it; `nil` when it is not here.
    ///
    /// The network is not used. What the server is known not to have is an empty resource.
    ///
    /// - Throws: `damaged` when the resource is here and cannot be read.
    public func resource(_ url: URL) throws(StoreError) -> Resource? {
        let shelf = box.load()
        let address = url.absoluteString
        for (template, tileset) in shelf.templates {
            guard let tile = template.tile(address) else { continue }
            if let found = Resource(try tiles.tile(tile, of: tileset)) { return found }
        }
        for (_, pack) in shelf.packs {
            guard let entry = pack.entry(address) else { continue }
            do throws(StylesError) {
                let bytes = try pack.bytes(of: entry)
                return Resource(
                    body: Data(bytes ?? []), mediaType: Self.mediaType(entry, bytes), etag: entry.etag,
                    isEmpty: bytes == nil)
            } catch {
                throw StoreError(
                    .damaged, "A file of a style pack cannot be read: \(error.message)",
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
        var body = stored.body
        if body.coding != .plain {
            do throws(TileBodiesError) {
                let coding: BodyCoding = body.coding == .gzip ? .gzip : .deflate
                body.bytes = Data(try coding.unpack([UInt8](body.bytes), limit: Int(ReadOnlyDatabase.maxBody)))
            } catch {
                throw StoreError(
                    .damaged, "A resource of an adopted database cannot be unpacked: \(error.message)", cause: error)
            }
        }
        return Resource(
            body: body.bytes, mediaType: body.mediaType, etag: stored.etag,
            isStale: body.expires.map { $0 < Date() } ?? false)
    }

    private static func mediaType(_ entry: StylePackIndex.Entry, _ bytes: [UInt8]?) -> String {
        switch entry.kind {
        case .style, .source, .spriteJSON: "application/json"
        case .data: "application/geo+json"
        case .glyphs: "application/x-protobuf"
        case .spriteImage, .image:
            switch bytes?.first {
            case 0xFF: "image/jpeg"
            case UInt8(ascii: "R"): "image/webp"
            default: "image/png"
            }
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
        case .empty: self = .empty
        case .absent: return nil
        }
    }
}
