internal import Foundation
internal import Tiles

/// Refuses definitions that no server can answer, before they are stored.
enum RegionCheck {
    /// - Parameter transforms: Whether the app changes addresses before they are requested; then a style may have an
    ///   address of its own scheme.
    /// - Throws: `invalid-arguments` naming what is wrong.
    static func check(
        _ region: RegionDefinition, defaultStyle: URL?, transforms: Bool = false
    ) throws(StoreError) {
        guard !region.sources.isEmpty || defaultStyle != nil else {
            throw refused("The region has no source, and the store has no default style.")
        }
        guard region.pixelRatio.isFinite, 1...4 ~= region.pixelRatio else {
            throw refused("The pixel ratio \(region.pixelRatio) is not within 1 to 4.")
        }
        switch region.area {
        case .geometry(let geometry):
            guard !geometry.isEmpty else { throw refused("The geometry of the region is empty.") }
        case .around(let places, let meters):
            guard !places.isEmpty, meters.isFinite, meters >= 0 else {
                throw refused("A region around places needs a place, and a distance of 0 metres or more.")
            }
        case .mask(let mask):
            guard !mask.isEmpty else { throw refused("The mask of the region is empty.") }
        case .box: break
        }
        for source in region.sources { try check(source, transforms) }
    }

    private static func check(_ source: SourceDescriptor, _ transforms: Bool) throws(StoreError) {
        switch source {
        case .tileset(let id, _):
            guard 1...200 ~= id.utf8.count else { throw refused("The name of a tileset has 1 to 200 bytes.") }
        case .style(let url):
            let isWeb = ["http", "https"].contains(url.scheme?.lowercased() ?? "") && url.host != nil
            guard isWeb || transforms && url.scheme != nil && !url.isFileURL else {
                throw refused(
                    "'\(url.absoluteString.prefix(200))' is not the http address of a style; for a style on the device, adopt its archive."
                )
            }
        case .online(let online):
            guard 1...500 ~= online.id.utf8.count, TileTemplate(online.template) != nil,
                online.requestsPerSecond > 0, online.parallel > 0
            else {
                throw refused(
                    "The tile server '\(online.id.prefix(100))' needs a name, an address with {z}, {x} and {y}, and limits above 0."
                )
            }
            if let cause = BulkPolicy.refusal(of: online.template) {
                throw .failing(
                    cause,
                    "The tile server '\(online.template.prefix(200))' may not be asked for the tiles of a region.",
                    advice: "Use a server that allows it, your own, or tile packs of a catalog.")
            }
        }
    }

    private static func refused(_ text: String) -> StoreError { StoreError(.invalidArguments, text) }
}
