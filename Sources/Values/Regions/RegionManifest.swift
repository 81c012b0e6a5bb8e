import Errors
import Tiles

/// The embedded list of nodes, as regions.json holds it.
struct RegionManifest {
    struct Node {
        var id = ""
        var kind = ""
        var parent: String?
        var also: [String] = []
        var alpha3: String?
        var numeric: String?
        var bounds: [Double] = []
        var boxes: [[Double]] = []
        /// In the order of the languages.
        var names: [String] = []
        var aliases: [String] = []
    }

    let format: Int
    let languages: [String]
    let nodes: [Node]

    /// Decodes the manifest.
    ///
    /// - Throws: ``RegionsError`` `.badResource`.
    static func read(_ bytes: ResourceBytes) throws(RegionsError) -> RegionManifest {
        let manifest = try bytes.withBytes { (bytes) throws(RegionsError) in try ManifestReader.read(bytes) }
        guard manifest.format == 1 else { throw .damaged("has list format \(manifest.format) instead of 1") }
        return manifest
    }
}

extension BoundingBox {
    /// A box out of four numbers: west, south, east, north.
    init(numbers: [Double], of id: String) throws(RegionsError) {
        guard numbers.count == 4 else { throw .damaged("gives \(id) a box of \(numbers.count) numbers") }
        do {
            try self.init(west: numbers[0], south: numbers[1], east: numbers[2], north: numbers[3])
        } catch {
            throw RegionsError(
                .badResource, "The embedded region tree gives \(id) a bad box: \(error.message)", cause: error)
        }
    }
}
