public import Foundation
import Tiles

/// The world tree: world, continents, sub-continents, 250 countries and the regions of seven of them, with names and boundaries.
///
/// A value that is cheap to copy: its parts are immutable and shared. Boundaries are decoded when they are asked for.
public struct RegionTree: Sendable {
    /// The languages in which every embedded region has a name.
    public static let languages = ["en", "de", "fr", "it", "zh", "es", "ru", "et"]

    /// The attribution that must accompany the data wherever it is shown or distributed; the texts of the licences are
    /// in NOTICE.
    public static let attribution = [
        "Made with Natural Earth. Free vector and raster map data @ naturalearthdata.com.",
        "Region names from Unicode CLDR 41, © 1991-2022 Unicode, Inc., under the Unicode license.",
    ]

    /// Internal data about a region.
    struct Node: Sendable {
        var region: Region
        /// Pieces of the atlas that are its own area; empty if its area is that of its children.
        var pieces: [Int]
        /// Island boxes: part of the mask, never drawn.
        var boxes: [BoundingBox]
        /// The imported boundary, which replaces the pieces.
        var imported: ImportedShape?
        var alpha3: String?
        var numeric: String?
        var aliases: [String]
        var children: [Int] = []

        var hasOwnGround: Bool { imported != nil || !pieces.isEmpty }
    }

    var nodes: [Node]
    var indexes: [String: Int]
    let atlas: PieceAtlas
    var names: NameIndex

    /// The tree compiled into this binary.
    ///
    /// Takes a millisecond; keep the value instead of asking again.
    ///
    /// - Throws: ``RegionsError`` `.badResource` when the binary is damaged.
    public static func embedded() throws(RegionsError) -> RegionTree {
        try RegionTree(manifest: RegionManifest.read(.manifest), atlas: PieceAtlas(.boundaries))
    }

    /// The embedded tree, combined with the regions of an import folder.
    ///
    /// - Parameter imports: The folder that ``RegionImport`` writes; `nil` or a missing folder means no imports.
    /// - Throws: ``RegionsError`` `.badImport` naming the file that cannot be used, `.fileFailed`, `.badResource`.
    public static func load(imports: URL?) throws(RegionsError) -> RegionTree {
        var tree = try embedded()
        if let imports { try tree.overlay(folder: imports) }
        return tree
    }

    init(manifest: RegionManifest, atlas: PieceAtlas) throws(RegionsError) {
        self.atlas = atlas
        nodes = []
        indexes = [:]
        names = NameIndex()
        nodes.reserveCapacity(manifest.nodes.count)
        for entry in manifest.nodes {
            guard let kind = Region.Kind(rawValue: entry.kind), indexes[entry.id] == nil else {
                throw .damaged("has a bad or repeated node \(entry.id)")
            }
            if let parent = entry.parent, indexes[parent] == nil { throw .damaged("has \(entry.id) before its parent") }
            var boxes: [BoundingBox] = []
            for box in entry.boxes { boxes.append(try BoundingBox(numbers: box, of: entry.id)) }
            let region = Region(
                id: entry.id, kind: kind, parentID: entry.parent,
                bounds: try BoundingBox(numbers: entry.bounds, of: entry.id), isImported: false,
                named: RegionNames(entry.names, languages: manifest.languages))
            append(
                Node(
                    region: region, pieces: ([entry.id] + entry.also).compactMap(atlas.index(of:)),
                    boxes: boxes,
                    imported: nil, alpha3: entry.alpha3, numeric: entry.numeric, aliases: entry.aliases))
        }
    }

    /// Adds a node below its parent, which must be there already.
    mutating func append(_ node: Node) {
        indexes[node.region.id] = nodes.count
        if let parent = node.region.parentID.flatMap({ indexes[$0] }) { nodes[parent].children.append(nodes.count) }
        nodes.append(node)
        names = NameIndex()
    }

    // MARK: - The tree

    /// Every region, parents before children.
    public var regions: [Region] { nodes.map(\.region) }

    /// The region with an id; the case of letters does not matter.
    public subscript(id: String) -> Region? { index(of: id).map { nodes[$0].region } }

    /// The regions directly below one, in the order of the tree; empty for a leaf or an unknown id.
    public func children(of id: String) -> [Region] {
        index(of: id).map { nodes[$0].children.map { nodes[$0].region } } ?? []
    }

    /// The region directly above one; `nil` for the world and for an unknown id.
    public func parent(of id: String) -> Region? { self[id]?.parentID.flatMap { self[$0] } }

    /// A region and the regions above it, the widest first, as far as they were imported: the embedded tree does not have
    /// them.
    public func importedLine(of region: Region) -> [Region] {
        // A tree has five levels.
        sequence(first: region) { parent(of: $0.id) }.prefix(5).filter(\.isImported).reversed()
    }

    /// The names from the continent down to the region, joined by slashes: `Europe/Northern Europe/Estonia`.
    ///
    /// The world is not part of a path, except of its own. An unknown id is its own path.
    public func path(of id: String, language: String) -> String {
        guard var region = self[id] else { return id }
        var names = [region.name(language)]
        while let parent = parent(of: region.id), parent.kind != .world {
            names.append(parent.name(language))
            region = parent
        }
        return names.reversed().joined(separator: "/")
    }

    /// The path in every language, by language code.
    public func localizedPaths(of id: String) -> [String: String] {
        Dictionary(uniqueKeysWithValues: Self.languages.map { ($0, path(of: id, language: $0)) })
    }

    func index(of id: String) -> Int? {
        indexes[id] ?? indexes[id.uppercased()]
    }
}
