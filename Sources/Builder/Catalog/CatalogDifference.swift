public import CatalogFormat
internal import Foundation
internal import Tiles

/// What differs between two catalogs: a new one, such as staging, and the one that it would replace.
///
/// Packages are compared by content. Versions and addresses belong to a catalog, so equal bytes in two catalogs are
/// unchanged whatever their versions are.
public struct CatalogDifference: Sendable, Hashable, Codable {
    /// What happens to a package.
    public enum Change: String, Sendable, Hashable, Codable, CaseIterable {
        /// Only the new catalog has it.
        case added
        /// Both have it, with other content.
        case changed
        /// Only the old catalog has it.
        case removed
    }

    /// What a list says of a package.
    public struct Content: Sendable, Hashable, Codable {
        /// Its version in its own catalog.
        public var version: Int32
        /// Tiles in the main file; `nil` if unknown.
        ///
        /// Those that several parts have count once: a lower bound for a package in parts whose source lacks some of the low zooms.
        public var tiles: UInt64?
        /// Bytes of the main file; of a package in parts of all of their main files.
        public var bytes: UInt64
        /// Number of parts of the package; `nil` for one that is not in parts.
        public var parts: Int?
        /// The shallowest zoom of its tiles; `nil` if unknown.
        public var minZoom: Int?
        /// The deepest zoom of its tiles; `nil` if unknown.
        public var maxZoom: Int?
        /// West, south, east and north of its mask in degrees; `nil` for a mask that is empty or cannot be read.
        public var bounds: [Double]?
        /// The attribution of the data; `nil` if unknown.
        public var attribution: String?
        /// How old the data is, as its source says; `nil` if unknown.
        public var dataDate: String?
        /// Id of the tileset; `nil` if unknown.
        public var tileset: String?
        /// Names of the vector layers; `nil` if unknown.
        public var layers: [String]?
        /// The patches of its catalog to this version, newest first; `nil` without any, and for a package in parts.
        public var patches: [Patch]?

        /// A patch from an earlier version of the same catalog.
        public struct Patch: Sendable, Hashable, Codable {
            /// The earlier version, as its catalog counts.
            public let from: Int32
            /// The format of both files; `nil` for MBTiles.
            public let format: String?
            /// Bytes of the patch.
            public let bytes: UInt64
        }

        /// What an entry says.
        public init(_ entry: CatalogEntry) {
            version = entry.version
            tiles = entry.tiles.map { UInt64(max(0, $0)) }
            bytes = UInt64(max(0, entry.size))
            (minZoom, maxZoom) = (entry.minZoom, entry.maxZoom)
            // A mask that cannot be read has no bounds.
            bounds = (try? TileMask(cartoText: entry.tileMask))?.bounds.map { [$0.west, $0.south, $0.east, $0.north] }
            (attribution, dataDate, tileset) = (entry.attribution, entry.dataDate, entry.tileset)
            layers = entry.layers
            let patches = entry.patches.map {
                Patch(from: $0.from, format: $0.format, bytes: UInt64(max(0, $0.size)))
            }
            self.patches = patches.isEmpty ? nil : patches
        }
    }

    /// A package that is not the same in both.
    public struct Package: Sendable, Hashable, Codable {
        /// What happens to it.
        public let change: Change
        /// Path of its edition; empty for the main one.
        public let edition: String
        /// The package's id.
        public let id: String
        /// What the new catalog says; `nil` for a removed package.
        public let new: Content?
        /// What the old catalog says; `nil` for an added package.
        public let old: Content?
        /// The share of the tiles or of the bytes that is lost, whichever is larger, from 0 to 1; 1 for a removed package.
        public let shrinkage: Double
        /// The version that the changed catalog gave it; `nil` when nothing was changed.
        public var published: Int32?

        init(_ change: Change, of id: String, in edition: CatalogEdition, new: ListedPackage?, old: ListedPackage?) {
            (self.change, self.edition, self.id) = (change, edition.path, id)
            (self.new, self.old) = (new.flatMap(Content.init), old.flatMap(Content.init))
            // Parts have tiles in common, so their bytes are more than those of the fewer files that take their place.
            let least = CatalogEntry.bytes(of: old?.entries ?? [], comparedWith: new?.entries.count ?? 1)
            shrinkage =
                switch (self.new, self.old) {
                case (let new?, let old?):
                    max(
                        CatalogDifference.loss(from: least, to: new.bytes),
                        old.tiles.flatMap { old in new.tiles.map { CatalogDifference.loss(from: old, to: $0) } } ?? 0)
                case (nil, _?): 1
                default: 0
                }
        }
    }

    /// The sums of a catalog's packages.
    public struct Sum: Sendable, Hashable, Codable {
        /// Number of packages.
        public var packages = 0
        /// Tiles, of the packages whose number of tiles both catalogs know.
        public var tiles: UInt64 = 0
        /// Bytes of main files.
        public var bytes: UInt64 = 0
    }

    /// What differs, the largest shrinkage first, then by edition and id.
    public var packages: [Package] = []
    /// Packages with the same content in both.
    public var unchanged = 0
    /// All packages of the new catalog.
    public var new = Sum()
    /// All packages of the old catalog.
    public var old = Sum()
    /// What a change takes away besides, a sentence each.
    public var warnings: [String] = []
    /// The sequence of the catalog after it was changed; `nil` when nothing was changed.
    public var sequence: Int64?

    /// The largest share by which a package may shrink where nothing else is said; the same as for publications.
    public static let usualShrinkage = 0.5

    /// The share of the tiles or bytes of all packages together that is lost, from 0 to 1.
    public var shrinkage: Double {
        max(Self.loss(from: old.bytes, to: new.bytes), Self.loss(from: old.tiles, to: new.tiles))
    }

    /// Compares lists by edition.
    ///
    /// - Parameters:
    ///   - new: The packages that would be published.
    ///   - old: The packages that are listed.
    public init(new: [CatalogEdition: [CatalogEntry]], old: [CatalogEdition: [CatalogEntry]]) {
        for edition in Set(new.keys).union(old.keys).sorted() {
            var before: [String: ListedPackage] = [:]
            for package in ListedPackage.all(of: old[edition] ?? []) { before[package.id] = package }
            for package in ListedPackage.all(of: new[edition] ?? []) {
                add(package, before.removeValue(forKey: package.id), in: edition)
            }
            // A promotion leaves companions where the new catalog has none, so that these are no loss.
            for package in before.values where !package.isCompanion {
                packages.append(Package(.removed, of: package.id, in: edition, new: nil, old: package))
                Self.count(package, in: &self.old)
            }
        }
        packages.sort { ($1.shrinkage, $0.edition, $0.id) < ($0.shrinkage, $1.edition, $1.id) }
    }

    private mutating func add(_ package: ListedPackage, _ before: ListedPackage?, in edition: CatalogEdition) {
        let areCounted = package.tiles != nil && before.map { $0.tiles != nil } ?? true
        Self.count(package, countingTiles: areCounted, in: &new)
        guard let before else {
            return packages.append(Package(.added, of: package.id, in: edition, new: package, old: nil))
        }
        Self.count(before, countingTiles: areCounted, in: &old)
        guard !package.isContained(in: before) else {
            unchanged += 1
            return
        }
        packages.append(Package(.changed, of: package.id, in: edition, new: package, old: before))
    }

    /// The packages that lose a larger share than allowed.
    ///
    /// - Parameter most: From 0 to 1.
    public func shrunk(beyond most: Double) -> [Package] { packages.filter { $0.shrinkage > most } }

    /// A share in whole or tenth percent, rounded up, so that what is beyond a limit is not shown as being at it.
    public static func percent(_ share: Double) -> String {
        let tenths = (share * 1_000).rounded(.up)
        return tenths.truncatingRemainder(dividingBy: 10) == 0 ? "\(Int(tenths / 10)) %" : "\(tenths / 10) %"
    }

    private static func count(_ package: ListedPackage, countingTiles: Bool = true, in sum: inout Sum) {
        sum.packages += 1
        for entry in package.entries { sum.bytes = sum.bytes.addingSaturated(entry.size) }
        if countingTiles { sum.tiles = sum.tiles.addingSaturated(package.tiles ?? 0) }
    }

    /// The lost share, 0 for growth.
    fileprivate static func loss(from old: UInt64, to new: UInt64) -> Double {
        new < old ? Double(old - new) / Double(old) : 0
    }
}

extension CatalogDifference.Content {
    /// What the entries of a package say together.
    fileprivate init?(_ package: ListedPackage) {
        guard let whole = package.whole else { return nil }
        self.init(whole)
        if package.isInParts { (parts, patches) = (package.entries.count, nil) }
    }
}

extension ListedPackage {
    /// Tiles in its main files; `nil` if unknown.
    fileprivate var tiles: Int64? { isInParts ? whole?.tiles : entries.first?.tiles }
}

extension UInt64 {
    /// The sum with a number of a list, which may be anything.
    fileprivate func addingSaturated(_ other: Int64) -> UInt64 {
        let (sum, overflows) = addingReportingOverflow(UInt64(Swift.max(0, other)))
        return overflows ? .max : sum
    }
}
