import Foundation
import Tiles

/// The embedded list of nodes, as regions.json holds it.
struct RegionManifest: Decodable {
    struct Node: Decodable {
        let id: String
        let kind: String
        let parent: String?
        let also: [String]?
        let alpha3: String?
        let bounds: [Double]
        let boxes: [[Double]]?
        /// In the order of the languages, separated by bars, because one text decodes faster than eight.
        let names: String
        let aliases: [String]?
    }

    let format: Int
    let languages: [String]
    let nodes: [Node]

    /// Decodes the manifest.
    ///
    /// - Throws: ``RegionsError`` `.badResource`.
    static func read(_ bytes: ResourceBytes) throws(RegionsError) -> RegionManifest {
        let manifest: RegionManifest
        do {
            manifest = try JSONDecoder().decode(RegionManifest.self, from: Data(bytes.array))
        } catch {
            throw RegionsError(.badResource, "The embedded list of regions is not readable: \(error)", cause: error)
        }
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
