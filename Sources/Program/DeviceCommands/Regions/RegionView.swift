import Foundation
import OfflineMaps
import Tiles

/// A region as printed.
struct RegionView: Encodable {
    /// How many of a kind of thing a region has.
    struct CountsView: Encodable {
        let required: UInt64
        let completed: UInt64
        let bytes: UInt64
        let failed: UInt64

        init(_ counts: Counts) {
            (required, completed) = (counts.required, counts.completed)
            (bytes, failed) = (counts.bytes, counts.failed)
        }

        /// `3 of 4`; `-` for none.
        var text: String { required == 0 ? "-" : "\(completed) of \(required)" }
    }

    /// What is missing, or has failed, and why.
    struct MissingView: Encodable {
        let what: String
        let cause: String?
        let count: UInt64

        init(_ missing: Missing) { (what, cause, count) = (missing.what, missing.cause?.name, missing.count) }
    }

    let region: String
    let state: String
    let minZoom: Int
    let maxZoom: Int
    let bytes: UInt64
    let resources: CountsView
    let tiles: CountsView
    let packs: CountsView
    let expires: String?
    let missing: [MissingView]
    let failed: [MissingView]

    init(_ info: RegionInfo) {
        (region, state, bytes) = (info.id.text, info.state.rawValue, info.bytes)
        (minZoom, maxZoom) = (info.zooms.min, info.zooms.max)
        resources = CountsView(info.progress.resources)
        tiles = CountsView(info.progress.tiles)
        packs = CountsView(info.progress.packs)
        expires = info.expires?.ISO8601Format()
        (missing, failed) = (info.missing.map(MissingView.init), info.failed.map(MissingView.init))
    }
}
