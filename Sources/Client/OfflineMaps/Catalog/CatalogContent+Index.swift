internal import CatalogFormat
internal import Errors
internal import Tiles

extension CatalogContent {
    /// Limits of what a device accepts; each is far above what a catalog of the whole world has.
    enum Limit {
        /// Nodes of the tree, packages of all editions, styles.
        static let rows = 200_000
        /// Bytes of a name path.
        static let name = 2_000
        /// Languages of one thing.
        static let languages = 100
    }

    /// Takes the newest versions of a decoded catalog.
    ///
    /// - Throws: ``CatalogValidationError`` for masks that are no masks, sizes and texts beyond the limits, and trees that are none.
    init(_ index: CatalogIndex) throws(CatalogValidationError) {
        guard index.packages.count <= Limit.rows, index.tree.count <= Limit.rows,
            index.styles?.count ?? 0 <= Limit.rows
        else { throw CatalogValidationError(text: "it has more than \(Limit.rows) packages, regions or styles") }
        var editions: [String: CatalogIndex.Edition] = [:]
        for edition in index.editions { editions[edition.path] = edition }
        for package in index.packages {
            guard let edition = editions[package.edition] else {
                throw CatalogValidationError(
                    text: "package '\(package.id)' is in an edition that the catalog does not list")
            }
            offers.append(try Offer(package, edition))
        }
        companions = offers.filter { $0.companion != nil }
        offers = Self.joined(offers.filter { $0.companion == nil })
        try addTree(index.tree)
        for style in index.styles ?? [] {
            let file = try Download(style.url, size: style.size, sha256: style.sha256, format: "style", of: style.id)
            if let name = style.name { try Text.check(name, of: style.id) }
            styles.append(Style(id: style.id, name: style.name, version: style.version, file: file))
        }
        mirrors = index.mirrors ?? []
        packLimit = max(0, min(1_000_000, index.limits.tilePacksPerDevice))
    }

    private mutating func addTree(_ tree: [CatalogIndex.Node]) throws(CatalogValidationError) {
        var seen: Set<String> = []
        for node in tree {
            guard 1...200 ~= node.id.utf8.count, seen.insert(node.id).inserted else {
                throw CatalogValidationError(
                    text: "its tree has '\(node.id.prefix(40))' twice, or an id of a wrong length")
            }
            // A parent that comes first cannot be below its child: the tree has no circle.
            guard node.parent.map({ $0 != node.id && seen.contains($0) }) ?? true else {
                throw CatalogValidationError(text: "its tree has '\(node.id.prefix(40))' before its parent")
            }
            try Text.check(node.kind, of: node.id)
            try Text.check(node.names, of: node.id)
            nodes.append(Node(id: node.id, parent: node.parent, kind: node.kind, names: node.names))
        }
    }
}

extension CatalogContent.Offer {
    fileprivate init(_ package: CatalogIndex.Package, _ edition: CatalogIndex.Edition) throws(CatalogValidationError) {
        typealias Download = CatalogContent.Download
        let name = package.edition + package.id
        guard let newest = package.versions.first else {
            throw CatalogValidationError(text: "package '\(name)' has no version")
        }
        do throws(TilesError) { mask = try TileMask(cartoText: newest.tileMask) } catch {
            throw CatalogValidationError(
                text: "the tile mask of package '\(name)' is wrong: \(error.message)", below: error)
        }
        switch (newest.minZoom, newest.maxZoom) {
        case (nil, nil): zooms = nil
        case (let first?, let last?):
            guard let range = ZoomRange(min: first, max: last) else {
                throw CatalogValidationError(text: "package '\(name)' has the zooms \(first) to \(last)")
            }
            zooms = range
        default: throw CatalogValidationError(text: "package '\(name)' has a first or a last zoom without the other")
        }
        files = []
        for file in newest.files {
            files.append(try Download(file.url, size: file.size, sha256: file.sha256, format: file.format, of: name))
        }
        patches = []
        for patch in newest.patches {
            var entry = try Download(
                patch.url, size: patch.size, sha256: patch.sha256, format: patch.format ?? CatalogEntry.mainFile.format,
                of: name)
            entry.from = patch.from
            patches.append(entry)
        }
        if let list = package.tilePacks {
            packs = try Download(list.url, size: list.size, sha256: list.sha256, format: "packs", of: name)
        }
        for text in [package.region, newest.tileset, newest.dataDate].compactMap({ $0 }) {
            try Text.check(text, of: name)
        }
        // Only this text may have lines: people read it.
        guard newest.attribution?.utf8.count ?? 0 <= CatalogContent.Limit.name else {
            throw CatalogValidationError(text: "the attribution of package '\(name)' is too long")
        }
        try Text.check(package.names, of: name)
        (id, group, language, region) = (package.id, edition.group, edition.language, package.region)
        (names, version, tileset) = (package.names, newest.version, newest.tileset)
        (dataDate, attribution, part) = (newest.dataDate, newest.attribution, package.part)
        companion = newest.companion
    }
}

extension CatalogContent.Download {
    fileprivate init(
        _ url: String, size: Int64, sha256: String, format: String, of name: String
    ) throws(CatalogValidationError) {
        guard 1...Int64(TilePackList.maxFile) ~= size else {
            throw CatalogValidationError(text: "a file of '\(name.prefix(200))' has \(size) bytes")
        }
        guard CatalogIndex.isInside(url) else {
            throw CatalogValidationError(text: "a file of '\(name.prefix(200))' lies outside of the catalog")
        }
        self.init(format: format, url: url, size: UInt64(size), sha256: sha256)
    }
}

/// Texts of a catalog: bounded, and without control characters, so that rows can separate texts by them.
private enum Text {
    static func check(_ text: String, of owner: String) throws(CatalogValidationError) {
        guard text.utf8.count <= CatalogContent.Limit.name, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw CatalogValidationError(text: "a text of '\(owner.prefix(200))' is too long or has control characters")
        }
    }

    static func check(_ names: [String: String], of owner: String) throws(CatalogValidationError) {
        guard names.count <= CatalogContent.Limit.languages else {
            throw CatalogValidationError(text: "'\(owner.prefix(200))' has names in \(names.count) languages")
        }
        for (language, name) in names {
            try check(language, of: owner)
            try check(name, of: owner)
        }
    }
}

/// Why a document is not a catalog that this device accepts.
struct CatalogValidationError: Error {
    var text: String
    var below: (any Error)?
}
