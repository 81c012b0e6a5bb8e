extension CatalogEntry {
    /// The members of ``CatalogEntry``, by its names, as `packages.json` has them.
    struct Members: Sendable, Hashable, Codable {
        let id: String
        var version: Int32
        let size: Int64
        var url: String
        let tileMask: String
        let metainfo: [String: String]
        let sha256: String
        let tilesHash: String
        let attribution: String?
        let format: String?
        let dataDate: String?
        let sourceBuild: String?
        let asked: String?
        let encoding: String?
        let tileSize: Int?
        var tileset: String?
        let tiles: Int64?
        let minZoom: Int?
        let maxZoom: Int?
        let layers: [String]?
        let failedTiles: UInt64?
        let nodes: [CatalogIndex.Node]?
        let part: CatalogPart?
        let companion: CatalogCompanion?
        var listedFiles: [File]?
        var listedPatches: [Patch]?
        var skippedPatches: [Int32]?
        var skippedFilePatches: [String: [Int32]]?

        enum CodingKeys: String, CodingKey {
            case id
            case version
            case size
            case url
            case tileMask = "tile_mask"
            case metainfo
            case sha256
            case tilesHash = "agg_tiles_hash"
            case attribution
            case format
            case dataDate = "data_date"
            case sourceBuild = "source_build"
            case asked
            case encoding
            case tileSize = "tile_size"
            case tileset
            case tiles
            case minZoom = "min_zoom"
            case maxZoom = "max_zoom"
            case layers
            case failedTiles = "failed_tiles"
            case nodes = "region_nodes"
            case part
            case companion
            case listedFiles = "files"
            case listedPatches = "patches"
            case skippedPatches = "no_patch_from"
            case skippedFilePatches = "no_file_patch_from"
        }
    }
}
