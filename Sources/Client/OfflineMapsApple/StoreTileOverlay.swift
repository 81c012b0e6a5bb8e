#if canImport(MapKit)
    internal import Foundation
    public import MapKit
    public import OfflineMaps
    internal import Tiles

    /// The raster tiles of a store as an overlay of MapKit.
    ///
    /// With a ``MapSource`` that has a server, what is not installed comes from the network; with one that has none, no
    /// request is sent. MapKit draws images: PNG and JPEG.
    public final class StoreTileOverlay: MKTileOverlay {
        private let source: MapSource

        /// Makes an overlay.
        ///
        /// - Parameters:
        ///   - zooms: The zooms that MapKit asks for.
        ///   - replacesMap: Whether Apple's map below is not drawn.
        public init(_ source: MapSource, zooms: ClosedRange<Int>, replacesMap: Bool = true) {
            self.source = source
            super.init(urlTemplate: nil)
            minimumZ = zooms.lowerBound
            maximumZ = zooms.upperBound
            canReplaceMapContent = replacesMap
        }

        /// Gives MapKit the tile; an empty or absent tile is an error without consequences: nothing is drawn.
        public override func loadTile(
            at path: MKTileOverlayPath, result: @escaping (Data?, (any Error)?) -> Void
        ) {
            guard let tile = TileID(zoom: path.z, x: path.x, y: path.y) else {
                return result(nil, URLError(.fileDoesNotExist))
            }
            let answer = Answer(call: result)
            Task { [source] in
                do {
                    guard case .found(let found) = try await source.tile(tile) else {
                        throw URLError(.fileDoesNotExist)
                    }
                    answer.call(try found.uncompressed(), nil)
                } catch { answer.call(nil, error) }
            }
        }

        // MapKit's block may be called on any thread, by its documentation.
        private struct Answer: @unchecked Sendable {
            let call: (Data?, (any Error)?) -> Void
        }
    }
#endif
