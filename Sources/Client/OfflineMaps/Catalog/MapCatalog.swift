internal import Foundation
public import Tiles

/// What the publisher offers: packages, groups, languages, styles, and the tree of regions.
///
/// A value: it does not change when a newer catalog is read. All calls answer from memory.
public struct MapCatalog: Sendable {
    /// What several copies of the value share.
    private final class Shared: Sendable {
        let content: CatalogContent
        let tree: CatalogTree
        let search: CatalogSearch
        /// Numbers of offers, the smallest area first: the order of `cells`.
        let order: [Int]
        let cells: CellIndex
        /// The deepest zoom of each mask in `order`.
        let deepest: [Int]

        init(_ content: CatalogContent) {
            self.content = content
            tree = CatalogTree(content)
            search = CatalogSearch(content.offers)
            let shares = content.offers.map(\.mask.share)
            order = content.offers.indices.sorted {
                let (left, right) = (content.offers[$0], content.offers[$1])
                return (shares[$0], left.size, left.id) < (shares[$1], right.size, right.id)
            }
            cells = CellIndex(order.map { content.offers[$0].mask })
            deepest = order.map { content.offers[$0].mask.deepestZoom ?? 0 }
        }
    }

    private let shared: Shared
    private let checkedAt: Date?

    /// Makes the catalog of verified content.
    ///
    /// - Parameter checkedAt: When the server was last asked; `nil` if it never was.
    init(_ content: CatalogContent, checkedAt: Date?) {
        shared = Shared(content)
        self.checkedAt = checkedAt
    }

    var content: CatalogContent { shared.content }

    /// How long ago the server was last asked; `nil` if it never was, or if the clock went back.
    public var age: Duration? { age(at: Date()) }

    func age(at now: Date) -> Duration? {
        guard let seconds = checkedAt.map({ now.timeIntervalSince($0) }), seconds >= 0, seconds < 1e12 else {
            return nil
        }
        return .seconds(seconds)
    }

    /// All packages of all editions, ascending by edition, then by id.
    public var packages: [PackageInfo] { content.offers.map(PackageInfo.init) }

    /// The data groups besides the base map, ascending.
    public var groups: [String] { Set(content.offers.compactMap(\.group)).sorted() }

    /// The languages in which there are packages, ascending.
    public var languages: [String] { Set(content.offers.compactMap(\.language)).sorted() }

    /// Files that belong to packages and are no maps, ascending by data group, then by id.
    public var companions: [CompanionInfo] { content.companions.compactMap(CompanionInfo.init) }

    /// Base addresses of other servers that have the same files, in the order in which they are asked.
    public var mirrors: [String] { content.mirrors }

    /// The style packs, ascending by id.
    public var styles: [StyleInfo] {
        content.styles.map { StyleInfo(id: $0.id, name: $0.name, version: $0.version, size: $0.file.size) }
    }

    /// The world, with everything below.
    public var root: MapNode { MapNode(shared.tree) }

    /// A package of exactly this edition.
    public func package(_ id: String, _ edition: Edition = Edition()) -> PackageInfo? {
        offer(id, edition).map(PackageInfo.init)
    }

    func offer(_ id: String, _ edition: Edition) -> CatalogContent.Offer? {
        content.offers.first { $0.id == id && $0.group == edition.group && $0.language == edition.language }
    }

    /// Packages whose names match in any language, ignoring case and diacritics.
    ///
    /// Names that begin with the text come first, then names with a word that does; names in the asked language come
    /// before others.
    ///
    /// - Parameter language: The language of the user; of packages that exist in several languages, this one is given.
    public func search(_ text: String, language: String) -> [PackageInfo] {
        shared.search.find(text, language: language).map { PackageInfo(content.offers[$0]) }
    }

    /// The packages whose deepest tiles cover a place, the smallest area first.
    public func packages(at place: Coordinate) -> [PackageInfo] {
        let found = (0...CellIndex.zoom).flatMap { zoom -> [Int] in
            guard let cell = TileID(at: place, zoom: zoom) else { return [] }
            // A mask that ends above the cells of zoom 6 is found by the cell of its last zoom.
            return shared.cells.candidates(for: cell).map { Int($0) }.filter { number in
                let deepest = shared.deepest[number]
                guard min(deepest, CellIndex.zoom) == zoom, let tile = TileID(at: place, zoom: deepest) else {
                    return false
                }
                return content.offers[shared.order[number]].mask.contains(tile)
            }
        }
        return found.sorted().map { PackageInfo(content.offers[shared.order[$0]]) }
    }

    /// The packages that have a tile, the smallest area first.
    public func packages(holding tile: TileID) -> [PackageInfo] {
        shared.cells.candidates(for: tile).compactMap { number in
            let offer = content.offers[shared.order[Int(number)]]
            return Self.holds(offer, tile) ? PackageInfo(offer) : nil
        }
    }

    private static func holds(_ offer: CatalogContent.Offer, _ tile: TileID) -> Bool {
        (offer.zooms?.contains(tile.zoom) ?? true) && offer.mask.contains(tile)
    }
}
