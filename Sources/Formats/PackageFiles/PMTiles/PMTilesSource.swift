internal import Errors
internal import Files
internal import Foundation
package import PMTiles
internal import TileBodies
internal import Tiles

/// A PMTiles file from an untrusted source.
final class PMTilesSource: PackageSource {
    let rows: [String: String]
    let format: TileFormat
    let isOwn: Bool
    let isSealed: Bool
    var namesBodies: Bool { isOwn }
    var coding: BodyCoding { file.coding }
    private let file: PMTilesFile
    private let path: String
    /// The limit of tiles that are read: a few bytes can claim any number, and no package has so many.
    private static let tileLimit = UInt64(UInt32.max)

    init(_ url: URL) throws {
        path = url.path
        do throws(PMTilesError) {
            file = try PMTilesFile(path: url.path)
        } catch {
            throw PackagesError(reading: error)
        }
        guard let format = file.header.format else {
            throw PackagesError(
                .unsupported,
                "'\(url.path)' has tiles of type \(file.header.tileType); supported are vector tiles, PNG, JPEG and WebP."
            )
        }
        self.format = format
        let metadata = try PMTilesMetadata(reading: file)
        isSealed = try PMTilesSeal.isThere(FileDescriptor(reading: url), isPromised: metadata.promisesSeal)
        rows = metadata.rows(file.header)
        isOwn = isSealed && rows["agg_tiles_hash"] != nil
    }

    /// Checks a file's seal; reads all its bytes.
    static func seal(of url: URL) throws -> VerifyReport.Seal {
        var report = VerifyReport(path: url.path, size: 0, kind: "PMTiles")
        try PMTilesSeal.check(url, isPromised: true, &report)
        return report.seal
    }

    func bodyLimit() throws -> UInt64 {
        var count: UInt64 = 0
        try walk { _ in count += 1 }
        return count
    }

    func tiles(_ each: (TileID, UInt64, UInt64) throws -> Void) throws {
        var count: UInt64 = 0
        try walk { entry in
            guard entry.run <= Self.tileLimit, count + entry.run <= Self.tileLimit else {
                throw PackagesError(
                    .unsupported, "'\(path)' claims more than \(Self.tileLimit) tiles; it is damaged or far too large.")
            }
            count += entry.run
            for id in entry.tile..<entry.tile + entry.run {
                guard let tile = TileID(hilbertID: id) else {
                    throw PackagesError(
                        .badSource, "'\(path)' has a tile with id \(id), deeper than zoom \(TileID.maxZoom).")
                }
                try each(tile, entry.offset, entry.length)
            }
        }
    }

    func body(_ record: TileRecord, of tile: TileID) throws -> [UInt8] {
        do throws(PMTilesError) {
            return try file.body(at: record.reference, length: record.length)
        } catch {
            throw PackagesError(reading: error)
        }
    }

    private func walk(_ each: (PMTilesDirectory.Entry) throws -> Void) throws {
        do {
            try file.walk(each)
        } catch let error as PMTilesError {
            throw PackagesError(reading: error)
        }
    }
}

extension PackagesError {
    /// Converts an error of reading a PMTiles file.
    package init(reading error: PMTilesError) {
        let code: Code =
            switch error.code {
            case .unreadable: .io
            case .unsupported: .unsupported
            case .badArchive: .badSource
            }
        self.init(code, error.message, cause: error)
    }
}
