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
                perSecond: tileset.politeness.requestsPerSecond, concurrency: tileset.politeness.concurrency))
    }
}
