internal import Errors
internal import Foundation
internal import PMTiles
internal import PackageFiles
internal import TileBodies
internal import Tiles

/// An open file with tiles, read by any number of threads.
final class TileArchive: Sendable {
    /// A body as it is stored.
    struct Body: Sendable {
        var bytes: [UInt8]
        var isGzip: Bool
    }

    private enum Access {
        case mbtiles(HandleSlots<MBTilesHandle>)
        case pmtiles(PMTilesFile)
    }

    /// What the bodies are; `nil` when the file does not say so.
    let format: TileFormat?
    private let access: Access

    /// Opens a file; blocks.
    ///
    /// - Throws: ``TileFileError``.
    init(path: String, isPMTiles: Bool, budget: HandleBudget) throws(TileFileError) {
        guard !isPMTiles else {
            do throws(PMTilesError) {
                let file = try PMTilesFile(path: path)
                format = file.header.format
                access = .pmtiles(file)
            } catch { throw TileFileError(text: error.message) }
            return
        }
        let slots = HandleSlots(budget: budget) { () throws(TileFileError) in try MBTilesHandle(path: path) }
        let word = try slots.lend { (handle) throws(TileFileError) in try handle.metadata("format") }
        format = word.flatMap(TileFormat.init(word:))
        access = .mbtiles(slots)
    }

    /// The body of a tile; `nil` when the file has none.
    ///
    /// Blocks.
    func body(of tile: TileID) throws(TileFileError) -> Body? {
        switch access {
        case .mbtiles(let slots):
            let found = try slots.lend { (handle) throws(TileFileError) in
                try handle.body(zoom: tile.zoom, column: tile.x, tmsRow: tile.tmsY)
            }
            guard let found else { return nil }
            let bytes = [UInt8](found)
            return Body(bytes: bytes, isGzip: Gzip.isGzip(bytes))
        case .pmtiles(let file):
            do {
                guard let bytes = try file.body(of: tile), !bytes.isEmpty else { return nil }
                switch file.coding {
                case .gzip: return Body(bytes: bytes, isGzip: true)
                case .identity: return Body(bytes: bytes, isGzip: Gzip.isGzip(bytes))
                case .deflate, .brotli, .zstd:
                    return Body(bytes: try file.coding.unpack(bytes, limit: Gzip.defaultLimit), isGzip: false)
                }
            } catch { throw TileFileError(text: "\(error)") }
        }
    }

    /// Values of the metadata of an MBTiles file.
    ///
    /// Blocks.
    func metadata(_ names: [String]) throws(TileFileError) -> [String: String] {
        guard case .mbtiles(let slots) = access else { return [:] }
        return try slots.lend { (handle) throws(TileFileError) in
            var values: [String: String] = [:]
            for name in names { values[name] = try handle.metadata(name) }
            return values
        }
    }
}
