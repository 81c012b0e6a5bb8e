internal import Errors
public import Foundation
internal import StyleFormat
internal import Tiles

/// Finds a style, TileJSON, tile, glyph range or sprite by the address that a renderer requests.
///
/// Synchronous; any number of threads may call it, and none waits for an update.
public final class ResourceResolver: Sendable {
    /// The style packs and tile addresses of one moment.
    private final class Shelf: Sendable {
        let packs: [StylePack]
        let templates: [(template: TileTemplate, tileset: String?)]

        init(_ packs: [StylePack], _ templates: [(template: TileTemplate, tileset: String?)]) {
            self.packs = packs
            self.templates = templates
        }
    }

    private let tiles: TileReader
    private let folder: StoreFolder
    private let box: SnapshotBox<Shelf>

    /// Reads the style packs among the units, and the tiles of `tiles`.
    ///
    /// - Throws: `damaged` for a style pack that cannot be opened.
    init(_ folder: StoreFolder, _ units: [UnitRow], tiles: TileReader) throws(StoreError) {
        self.folder = folder
        self.tiles = tiles
        box = SnapshotBox(try Self.shelf(folder, units))
    }

    /// Puts other units in place.
    ///
    /// - Throws: `damaged`; then the units before stay.
    func replace(_ units: [UnitRow]) throws(StoreError) { box.replace(try Self.shelf(folder, units)) }

    private static func shelf(_ folder: StoreFolder, _ units: [UnitRow]) throws(StoreError) -> Shelf {
        var packs: [StylePack] = []
        var templates: [(template: TileTemplate, tileset: String?)] = []
        var seen: Set<TileTemplate> = []
        for unit in units {
            if let template = unit.template.flatMap({ TileTemplate($0) }), seen.insert(template).inserted {
                templates.append((template, unit.tileset))
            }
            guard case .style = unit.item, let file = folder.file(unit.path) else { continue }
            do throws(StylesError) { packs.append(try open(file)) } catch {
                throw StoreError(
                    .damaged, "The style pack '\(unit.path)' cannot be read: \(error.message)",
                    advice: "Install it again, or repair the store.", cause: error)
            }
        }
        return Shelf(packs, templates)
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
            switch try tiles.tile(tile, of: tileset) {
            case .found(let found):
                return Resource(
                    body: found.body, mediaType: found.mediaType, coding: found.coding, isStale: found.isStale)
            case .empty: return Resource(body: Data(), mediaType: "application/octet-stream", isEmpty: true)
            case .absent: continue
            }
        }
        for pack in shelf.packs {
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
        return nil
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
