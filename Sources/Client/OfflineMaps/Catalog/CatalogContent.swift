internal import CatalogFormat
internal import Tiles

/// What a device keeps of a catalog: the newest version of each package, the tree, and the styles.
///
/// It is made from a verified `catalog.json` (``CatalogReading``) and from the rows of the store.
struct CatalogContent: Sendable, Hashable {
    /// A file that a task can download.
    struct Download: Sendable, Hashable {
        /// The format of a whole file, `packs` for the list of tile packs; for a patch that of the files on both sides.
        var format: String
        /// The version that a patch starts from; 0 for other files.
        var from: Int32 = 0
        /// The address, relative to the catalog.
        var url: String
        /// Exact bytes.
        var size: UInt64
        /// SHA-256, 64 lower-case hexadecimal digits.
        var sha256: String
    }

    /// The newest version of one package in one edition.
    struct Offer: Sendable, Hashable {
        var id: String
        var group: String?
        var language: String?
        /// The node of the tree that it covers.
        var region: String?
        /// Name paths by language: `Europe/Northern Europe/Estonia`.
        var names: [String: String]
        var version: Int32
        var mask: TileMask
        var zooms: ZoomRange?
        var tileset: String?
        var dataDate: String?
        var attribution: String?
        /// Whole files, the main one first.
        var files: [Download]
        /// Patches to this version, newest first.
        var patches: [Download]
        /// The list of tile packs.
        var packs: Download?
        /// Which part of a package it is; `nil` for a whole one.
        var part: CatalogPart?
        /// What its file is; `nil` for a map.
        var companion: CatalogCompanion?
        /// The offers of a package in parts, in the order of their numbers; none for a package that is one file.
        ///
        /// Then ``files`` says the formats and their bytes in all parts, and nothing is downloaded from their addresses.
        var parts: [Offer] = []

        /// Bytes of the main file.
        var size: UInt64 { files.first?.size ?? 0 }
    }

    /// A node of the world tree.
    struct Node: Sendable, Hashable {
        var id: String
        var parent: String?
        var kind: String
        var names: [String: String]
    }

    /// A style pack.
    struct Style: Sendable, Hashable {
        var id: String
        var name: String?
        var version: Int32
        var file: Download
    }

    /// Ascending by edition, then id; a package in parts is one of them.
    var offers: [Offer] = []
    /// Files that belong to packages and are no maps, ascending by edition, then id; their ids are those of their packages.
    var companions: [Offer] = []
    /// Parents before children.
    var nodes: [Node] = []
    /// Ascending by id.
    var styles: [Style] = []
    /// Base addresses of other servers that have the same files, in the order in which they are asked.
    var mirrors: [String] = []
    /// How many tile packs the publisher allows on one device.
    var packLimit = 750
}
