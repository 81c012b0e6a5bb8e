internal import Errors
internal import Foundation
internal import Tiles
internal import Tilesets

/// What map services answer, and tile addresses as people bring them.
extension FuzzTarget {
    /// A byte that selects the reader, then the document: `w` capabilities of a WMTS, `a` a description of ArcGIS, `m` an answer in place of
    /// a picture, `t` the address of a tileset, `l` a list of changed tiles.
    static func service(_ bytes: [UInt8]) -> Verdict {
        guard let first = bytes.first else { return .refused("short") }
        let document = Array(bytes.dropFirst())
        do throws(TilesetsError) {
            switch first {
            case UInt8(ascii: "w"): try capabilities(document)
            case UInt8(ascii: "a"):
                try use(try ArcGISService.metadata(json: document, address: "http://h/a/MapServer?token={key}"))
            case UInt8(ascii: "t"):
                let text = String(decoding: document, as: UTF8.self)
                let file = try TilesetFile(
                    source: text, folder: URL(fileURLWithPath: "/"), contact: "a@b.c", format: "png")
                let tileset = try file.resolved()
                var back = try Tileset(canonicalJSON: tileset.canonicalJSON)
                // These do not reach the workers.
                (back.packs, back.saysZooms) = (tileset.packs, tileset.saysZooms)
                guard back == tileset else {
                    return .wrong("another tileset came back")
                }
                for template in try tileset.templates() { _ = template.expand(.root) }
            case UInt8(ascii: "m"): return ServiceMessage(in: document) == nil ? .refused("no-message") : .accepted
            case UInt8(ascii: "l"): return changes(document)
            default: return .refused("selector")
            }
            return .accepted
        } catch {
            return .refused("\(error.code)")
        }
    }

    private static func capabilities(_ document: [UInt8]) throws(TilesetsError) {
        let found = try WMTSCapabilities(xml: document)
        var last: TilesetsError?
        for id in found.ids.prefix(8) {
            do throws(TilesetsError) {
                try use(try found.metadata(layer: id, format: nil, address: "http://h/w?map=1"))
            } catch { last = error }
        }
        if let last { throw last }
    }

    private static func use(_ metadata: SourceMetadata) throws(TilesetsError) {
        for text in metadata.templates { _ = try URLTemplate(text).expand(.root) }
    }

    private static func changes(_ document: [UInt8]) -> Verdict {
        var list = TileList()
        do throws(TileList.Fault) { try list.add(document) } catch { return .refused("bad-line") }
        let mask = list.mask(maxZoom: 14)
        return mask.isEmpty == (list.count == 0) ? .accepted : .wrong("a listed tile is not in the mask")
    }
}
