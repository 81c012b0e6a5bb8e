internal import Errors
internal import Foundation
internal import PackageFiles
internal import Tiles

/// The units that readers use at one moment, in the order of preference; it never changes.
final class TileSnapshot: Sendable {
    let files: [UnitFile]
    /// The databases of MapLibre, which have resources besides tiles.
    let databases: [UnitFile]
    private let cells: CellIndex

    /// Sorts the units: the newest data first, then the smallest area, then the id.
    init(_ files: [UnitFile]) {
        let sorted = files.sorted { left, right in
            let (newer, older) = (left.unit.dataDate ?? "", right.unit.dataDate ?? "")
            if newer != older { return newer > older }
            if left.share != right.share { return left.share < right.share }
            return left.unit.item.key < right.unit.item.key
        }
        self.files = sorted
        databases = sorted.filter { $0.unit.format == .maplibre }
        cells = CellIndex(sorted.map(\.mask))
    }

    /// What a look-up found.
    enum Found {
        case body(UnitFile, StoredBody)
        /// A file says that there is no such tile.
        case empty
        case absent
        /// The only files that claim the tile cannot be read.
        case failed(UnitFile, ArchiveError)
    }

    /// Looks a tile up.
    ///
    /// Packages of exactly the edition come first. Where there is none, and no language is asked for, packages of any
    /// language answer; where a language is asked for, packages without one.
    ///
    /// - Parameter report: Called for each file that cannot be read.
    func find(
        _ tile: TileID, of tileset: String?, _ edition: Edition, report: (UnitFile, ArchiveError) -> Void
    ) -> Found {
        var others = false
        let exact = find(tile, report: report) { file in
            if file.edition != edition { others = true }
            return file.edition == edition && file.isOf(tileset)
        }
        guard others, case .absent = exact else { return exact }
        return find(tile, report: report) { file in
            file.edition.group == edition.group && (edition.language == nil || file.edition.language == nil)
                && file.isOf(tileset)
        }
    }

    private func find(
        _ tile: TileID, report: (UnitFile, ArchiveError) -> Void, _ isWanted: (UnitFile) -> Bool
    ) -> Found {
        var result = Found.absent
        for number in cells.candidates(for: tile) {
            let file = files[Int(number)]
            guard isWanted(file), file.claims(tile) else { continue }
            do throws(ArchiveError) {
                switch try file.find(tile) {
                case .body(let body, _): return .body(file, body)
                case .empty: if case .absent = result { result = .empty }
                case .absent: break
                }
            } catch {
                report(file, error)
                result = .failed(file, error)
            }
        }
        return result
    }

    /// The files that claim a tile.
    func claimants(of tile: TileID) -> [UnitFile] {
        cells.candidates(for: tile).map { files[Int($0)] }.filter { $0.claims(tile) }
    }
}
