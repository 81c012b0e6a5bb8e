internal import CatalogFormat
internal import Digests
internal import Tiles

extension CatalogEntry {
    /// The entry of a published package; `same` is the listed one of the same version, whose other formats and patches stay.
    init(_ request: PublishRequest, version: Int32, like same: CatalogEntry?, base: String) {
        let new = request.files.map {
            File(
                format: $0.format, fileExtension: $0.fileExtension,
                url: base + Self.path(request.id, version: version, fileExtension: $0.fileExtension),
                size: Int64($0.size),
                sha256: $0.digest.hex)
        }
        let all = new + (same?.files ?? []).filter { old in !new.contains { $0.format == old.format } }
        self.init(
            id: request.id, version: version, size: Int64(request.size),
            url: base + Self.path(request.id, version: version, fileExtension: request.main.fileExtension),
            tileMask: request.maskWire,
            metainfo: Dictionary(uniqueKeysWithValues: request.names.map { ("name_\($0.key)", $0.value) }),
            sha256: request.digest.hex, tilesHash: request.tilesHash,
            attribution: request.attribution.isEmpty ? nil : request.attribution, format: request.format,
            dataDate: request.options.dataDate ?? same?.dataDate,
            sourceBuild: request.sourceBuild ?? same?.sourceBuild, asked: request.asksChangedOnly ? "changed" : nil,
            encoding: request.encoding, tileSize: request.tileSize,
            tileset: request.tileset.isEmpty ? nil : request.tileset,
            tiles: request.tiles.map { Int64(clamping: $0) } ?? same?.tiles, minZoom: request.zooms?.min,
            maxZoom: request.zooms?.max, layers: request.layers ?? same?.layers, failedTiles: request.failedTiles,
            nodes: request.nodes.isEmpty ? nil : request.nodes, part: request.part,
            listedFiles: all.isEmpty ? nil : all.sorted { $0.format < $1.format }, listedPatches: same?.listedPatches,
            skippedPatches: same?.skippedPatches, skippedFilePatches: same?.skippedFilePatches)
    }
}
