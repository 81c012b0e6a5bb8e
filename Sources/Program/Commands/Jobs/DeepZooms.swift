internal import ClusterClient
internal import Packages
internal import TextFormats
import Tiles
internal import Tilesets

/// What is said when a job takes the zooms of its source, and these are deeper than those of most maps.
enum DeepZooms {
    /// Tiles of each zoom that are fetched to estimate the size.
    private static let samples = 8

    /// A sentence with the number of tiles and their size, from a few tiles that are fetched; none when the source ends at zoom 14 or before.
    ///
    /// A sample that fails is no reason to refuse the job: then the sentence has the number of tiles alone.
    static func remarks(_ draft: JobDraft) async -> [String] {
        guard draft.zooms.max > TilesetOptions.usualDepth else { return [] }
        let estimate = try? await Estimate.sampled(draft, samples: samples, workers: 1, formats: [.mbtiles])
        return [remark(draft, estimate)].compactMap(\.self)
    }

    /// The same sentence after an estimate; `nil` when the source ends at zoom 14 or before.
    static func remark(_ draft: JobDraft, _ estimate: Estimate?) -> String? {
        let depth = TilesetOptions.usualDepth
        guard draft.zooms.max > depth else { return nil }
        let size = estimate?.files.first.map { ", about \(Units.bytes($0.bytes)) as \($0.format)" } ?? ""
        let most = draft.zooms.min > depth ? draft.zooms.min : depth
        let shallow = ZoomRange(min: draft.zooms.min, max: most).map { zooms in
            "; zooms \(zooms) alone are \(Units.count(draft.packages.reduce(0) { $0 + $1.mask.count(in: zooms) }, of: "tile")) (--zoom \(zooms))"
        }
        return
            "Tileset '\(draft.tileset.id)' ends at zoom \(draft.zooms.max), and no --zoom is given: \(Units.count(draft.packageTiles, of: "tile"))\(size)\(shallow ?? "")."
    }
}
