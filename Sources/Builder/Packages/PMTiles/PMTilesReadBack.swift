internal import Errors
internal import Foundation
internal import PMTiles
internal import PackageFiles
internal import TextFormats
internal import TileBodies

/// Reads a new PMTiles file in the same way as its clients, and compares it with the written tiles.
enum PMTilesReadBack {
    /// The problems of the file; empty if header, directories and metadata are valid, and its tiles are exactly those
    /// given.
    ///
    /// - Parameters:
    ///   - sum: The sum of the tiles that were written, along the Hilbert curve of each zoom.
    ///   - format: What their bodies must begin like.
    /// - Throws: ``PackagesError`` when it cannot be opened.
    static func problems(of content: SealedContent, sum: TileSum, format: TileFormat) throws -> [String] {
        var report = VerifyReport(path: "", size: 0, kind: "PMTiles")
        let file: PMTilesFile
        do throws(ArchiveError) {
            file =
                switch content {
                case .file(let url): try PMTilesFile(path: url.path)
                case .bytes(let bytes, let path): try PMTilesFile(bytes: bytes, path: path)
                }
        } catch {
            throw PackagesError(error)
        }
        PMTilesVerify.checkSections(file.header, &report)
        let rows = MetadataCheck(
            try PMTilesMetadata(reading: file).rows(file.header, format), requiresName: false, &report)
        var walk = PMTilesWalk(file, TileCheck(rows, mask: nil, zooms: nil))
        var found = TileSum()
        var last: (entry: PMTilesDirectory.Entry, body: TileSum.Body)?
        do {
            try walk.run(&report) { tile, entry, report in
                if let last, last.entry == entry { return found.add(tile, last.body) }
                let body = try file.body(at: entry.offset, length: entry.length).withUnsafeBytes { bytes in
                    if !format.admits(bytes) {
                        report.add(
                            "wrong-kind", at: "\(tile)",
                            because: "it is not \(Sentence.article(format.rawValue)) \(format.rawValue) tile")
                    }
                    return TileSum.Body(bytes)
                }
                found.add(tile, body)
                last = (entry, body)
            }
        } catch let error as ArchiveError {
            report.add(error.code.description, at: "directories", because: error.message)
        }
        report.compare(found, with: sum)
        return report.problems.map(\.description)
    }
}
