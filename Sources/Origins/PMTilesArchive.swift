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
        var metadata = SourceMetadata()
        metadata.format = file.header.format
        metadata.zooms = file.header.zooms
        metadata.bounds = SourceMetadata.bounds(file.header.bounds)
        do throws(PMTilesError) {
            let text = try file.metadata()
            if !text.isEmpty { metadata.merge(metadataJSON: text) }
        } catch {
            throw OriginsError(error)
        }
        return metadata
    }
}

extension OriginsError {
    /// The same failure, named as origins name theirs.
    fileprivate init(_ error: PMTilesError) {
        let code: Code =
            switch error.code {
            case .unreadable: .unreadable
            case .unsupported: .unsupported
            default: .badArchive
            }
        self.init(code, error.message, cause: error)
    }
}
