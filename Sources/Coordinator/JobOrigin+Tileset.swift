import Scheduling
import Tilesets

extension JobOrigin {
    /// Whose budget a job over this tileset draws from; `nil` for files, and for what no worker of this build can read either.
    init?(canonicalTileset bytes: [UInt8]) {
        let tileset: Tileset
        do { tileset = try Tileset(canonicalJSON: bytes) } catch { return nil }
        guard let name = tileset.originName else { return nil }
        self.init(
            name: name,
            limits: OriginLimits(
                perSecond: tileset.politeness.requestsPerSecond, concurrency: tileset.politeness.concurrency,
                bytesPerSecond: tileset.politeness.bytesPerSecond.map(Double.init)))
    }
}

extension BatchCut {
    /// How the tiles of a tileset are asked for.
    init(canonicalTileset bytes: [UInt8]) {
        do {
            if case .remotePMTiles = try Tileset(canonicalJSON: bytes).source { self = .ranges } else { self = .tiles }
        } catch {
            // No worker of this build can read it either.
            self = .tiles
        }
    }
}
