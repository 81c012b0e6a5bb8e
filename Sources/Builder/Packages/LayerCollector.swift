internal import Errors
internal import PackageFiles
internal import TileBodies

/// The vector layers found in tiles, for a tileset that does not say what it has.
struct LayerCollector {
    /// Those found so far.
    private(set) var layers = VectorLayers()
    private let memory: LayerCache
    private let format: TileFormat
    private let isChecked: Bool
    private let checker = BodyChecker()
    /// The traits seen at each zoom.
    private var seen: [Int: Set<LayerCache.Number>] = [:]

    /// - Parameters:
    ///   - format: The vector format of the tiles.
    ///   - memory: Bodies that are in this cache are not examined again.
    ///   - isChecked: Whether all bodies are known to be whole tiles.
    init(_ format: TileFormat, _ memory: LayerCache = LayerCache(), isChecked: Bool) {
        self.format = format
        self.memory = memory
        self.isChecked = isChecked
    }

    /// Adds what a tile's body has.
    ///
    /// - Throws: `verification-failed` for a body that must be examined and is not a vector tile.
    mutating func add(_ body: UnsafeRawBufferPointer, _ key: BodyKey, zoom: Int) throws(PackagesError) {
        let key = LayerCache.Key((key.high, key.low))
        if let traits = memory.recall(key) { return addTraits(traits, zoom) }
        let summary: VectorTileSummary
        do {
            summary = try checker.summary(of: body, as: format, isChecked: isChecked)
        } catch {
            throw PackagesError(
                .verificationFailed, "A vector tile of zoom \(zoom) cannot be read: \(error.message)", cause: error)
        }
        guard let traits = memory.numbers(of: summary) else { return layers.add(summary, zoom: zoom) }
        memory.remember(key, traits)
        addTraits(traits, zoom)
    }

    private mutating func addTraits(_ traits: [LayerCache.Number], _ zoom: Int) {
        for trait in traits where seen[zoom, default: []].insert(trait).inserted {
            memory.add(trait, to: &layers, zoom: zoom)
        }
    }
}

extension PackageMetadata {
    /// Whether tiles must be looked at for their layers.
    var lacksLayers: Bool { format.traits.isVector && vectorLayersJSON == nil }
}
