import Errors
import PMTiles
import TileBodies
import Tiles
import Tilesets

/// A PMTiles file as an origin.
final class PMTilesArchive: TileArchive {
    private let file: PMTilesFile

    init(path: String, limit: Int) throws(OriginsError) {
        do throws(PMTilesError) {
            file = try PMTilesFile(path: path, limit: limit)
        } catch {
            throw OriginsError(error)
        }
    }

    func read(
        _ tiles: [TileID], each: (TileID, Result<(body: [UInt8], coding: BodyCoding)?, OriginsError>) -> Void
    ) throws(OriginsError) {
        for tile in tiles {
            do throws(PMTilesError) {
                each(tile, .success(try file.body(of: tile).map { (body: $0, coding: file.coding) }))
            } catch {
                let failure = OriginsError(error)
                guard !failure.isOfTheWhole else { throw failure }
                each(tile, .failure(failure))
            }
        }
    }

    /// What the header and the metadata say.
    func metadata() throws(OriginsError) -> SourceMetadata {
        do throws(PMTilesError) {
            return SourceMetadata(file.header, metadata: try file.metadata())
        } catch {
            throw OriginsError(error)
        }
    }
}

extension SourceMetadata {
    /// What a PMTiles archive says about itself.
    ///
    /// - Parameter text: Its unpacked metadata; may be empty.
    init(_ header: PMTilesHeader, metadata text: [UInt8]) {
        self.init()
        format = header.format
        zooms = header.zooms
        bounds = SourceMetadata.bounds(header.bounds)
        if !text.isEmpty { merge(metadataJSON: text) }
    }
}

extension OriginsError {
    /// Converts the error to an error of this module.
    init(_ error: PMTilesError) {
        let code: Code =
            switch error.code {
            case .unreadable: .unreadable
            case .unsupported: .unsupported
            case .badArchive: .badArchive
            }
        self.init(code, error.message, cause: error)
    }
}
