import Scheduling
import Tilesets

extension JobOrigin {
    /// The origin whose budget a job over this tileset uses; `nil` for files, and for tilesets that no worker of this
    /// build can read.
    init?(canonicalTileset bytes: [UInt8]) {
        let tileset: Tileset
        do { tileset = try Tileset(canonicalJSON: bytes) } catch { return nil }
        guard let name = tileset.originName else { return nil }
        self.init(
            name: name,
            limits: OriginLimits(
                perSecond: tileset.politeness.requestsPerSecond, concurrency: tileset.politeness.concurrency,
                bytesPerSecond: tileset.politeness.bytesPerSecond.map { Double($0) }))
    }
}

extension BatchCut {
    /// The protocol by which the tiles of a tileset are requested.
    init(canonicalTileset bytes: [UInt8]) {
        do {
            if case .remotePMTiles = try Tileset(canonicalJSON: bytes).source { self = .ranges } else { self = .tiles }
        } catch {
            // No worker of this build can read this tileset.
            self = .tiles
        }
    }
}
