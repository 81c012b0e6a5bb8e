public import CatalogFormat
internal import Digests
public import Errors
internal import Files
internal import Foundation
internal import Regions

extension Catalog {
    /// `catalog.json` as the lists give it now; nothing is written.
    ///
    /// - Throws: `catalog-corrupt`, `io`.
    public func index() throws(CatalogError) -> CatalogIndex {
        let parts = try indexParts()
        var index = parts.shell
        index.tree = parts.tree
        index.packages = parts.packages.flatMap { $0.map(CatalogIndex.Package.init) }
        return index
    }

    /// The bytes of ``index()``; only the parts that changed since the last call are encoded again.
    private func indexBytes() throws(CatalogError) -> [UInt8] {
        let parts = try indexParts()
        let name = CatalogIndex.fileName
        return try memory.encoding { (rows) throws(CatalogError) in
            var packages: [[UInt8]] = []
            for sources in parts.packages {
                guard let edition = sources.first?.edition else { continue }
                packages += try rows.index[edition, default: EncodedRows()].elements(sources, by: \.entry.id) {
                    (source) throws(CatalogError) in try Self.row(CatalogIndex.Package(source), named: name)
                }
            }
            let tree = try rows.tree.elements(parts.tree, by: \.id) { (node) throws(CatalogError) in
                try Self.row(node, named: name)
            }
            return try Self.document(
                shell: try CatalogJSON.encode(parts.shell, named: name), filling: ["packages": packages, "tree": tree])
        }
    }

    /// The index in parts: the document without tree and packages, the tree, and the packages by edition.
    private struct IndexParts {
        var shell = CatalogIndex()
        var tree: [CatalogIndex.Node] = []
        var packages: [[CatalogCache.IndexSource]] = []
    }

    private func indexParts() throws(CatalogError) -> IndexParts {
        var parts = IndexParts()
        var regions: Set<String> = []
        var sequence: Int64 = 0
        var imported: [String: CatalogIndex.Node] = [:]
        let tree = try Self.tree.get()
        for edition in try editions() {
            let document = try document(edition)
            let list = document.value.list
            let history = try history(edition)
            let older = history.byPackage()
            let packs = try packLists(of: list, edition)
            var sizes: [String: Int64] = [:]
            var sources: [CatalogCache.IndexSource] = []
            sources.reserveCapacity(list.packages.count)
            sequence += history.sequence(with: list)
            for entry in list.packages {
                sequence += Int64(entry.version)
                sizes[entry.main.format, default: 0] += entry.size
                for file in entry.files { sizes[file.format, default: 0] += file.size }
                for node in entry.nodes ?? [] where tree[node.id] == nil { imported[node.id] = node }
                // A part belongs to the region of its package.
                let region = entry.part?.of ?? entry.id
                let isNode = tree[region]?.id == region || entry.nodes?.contains { $0.id == region } ?? false
                if isNode { regions.insert(region) }
                sources.append(
                    CatalogCache.IndexSource(
                        edition: edition, entry: entry,
                        older: older[entry.id]?.filter {
                            $0.version < entry.version && $0.wholeID == entry.wholeID
                        } ?? [],
                        packs: packs[entry.id], region: isNode ? region : nil))
            }
            parts.packages.append(sources)
            parts.shell.editions.append(
                CatalogIndex.Edition(
                    path: edition.path, group: edition.group, language: edition.language,
                    list: CatalogIndex.List(
                        url: edition.path + "packages.json", size: Int64(document.size),
                        sha256: document.value.digest.hex),
                    packages: list.packages.count, sizes: sizes))
        }
        parts.tree = memory.nodes(regions, imported: imported) { Self.nodes(above: regions, in: tree, imported) }
        let there = Set(parts.tree.map(\.id))
        for edition in parts.packages.indices {
            for number in parts.packages[edition].indices {
                guard let region = parts.packages[edition][number].region, !there.contains(region) else { continue }
                parts.packages[edition][number].region = nil
            }
        }
        let styles = try styleList().styles
        parts.shell.styles = styles.isEmpty ? nil : styles
        let mirrors = try mirrors()
        parts.shell.mirrors = mirrors.isEmpty ? nil : mirrors
        parts.shell.sequence = sequence + styles.reduce(0) { $0 + Int64($1.version) }
        return parts
    }

    /// Updates `catalog.json` after tile packs, which are files next to the lists, have changed.
    ///
    /// - Throws: `signing-key`, `catalog-corrupt`, `disk-full`, `io`.
    public func refresh() throws(CatalogError) {
        try checkMaySign()
        try locked { () throws(CatalogError) in try refreshIndex() }
    }

    /// The lists of tile packs of an edition's packages, by package.
    private func packLists(
        of list: CatalogList, _ edition: CatalogEdition
    ) throws(CatalogError) -> [String: CatalogIndex.List] {
        let folder = place(TilePackList.path(""), edition).deletingLastPathComponent()
        return try memory.packLists(of: list.packages.map(\.id), edition, in: folder) { id, bytes in
            CatalogIndex.List(
                url: edition.path + TilePackList.path(id), size: Int64(bytes.count), sha256: Digest(of: bytes).hex)
        }
    }

    /// Whether a change failed after it wrote lists and before it wrote the index.
    ///
    /// Opening the catalog writes the index again anyway, so this mark need not survive a crash of the machine.
    var isIndexStale: Bool { access(staleMark.path, F_OK) == 0 }

    private var staleMark: URL { folder.appendingPathComponent(".index-stale") }

    /// Records that the index does not match the lists until ``unmarkIndex()``; the caller holds the lock.
    func markIndexStale() throws(CatalogError) {
        let handle = open(staleMark.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard handle >= 0 else {
            let number = errno
            throw try CatalogError.naming { () throws(StorageError) in
                throw StorageError.system(number, action: "create", path: staleMark.path)
            }
        }
        close(handle)
    }

    func unmarkIndex() { unlink(staleMark.path) }

    /// Updates `catalog.json` and its signature; writes nothing if they are current.
    ///
    /// The caller holds the lock.
    func refreshIndex() throws(CatalogError) {
        let bytes = try indexBytes()
        let target = folder.appendingPathComponent(CatalogIndex.fileName)
        let isSame = try Self.holds(target, bytes)
        try sign(bytes)
        guard !isSame else { return }
        try checkMayChange()
        try CatalogError.naming { () throws(StorageError) in try Durable.write(bytes, to: target) }
    }

    /// Whether a file has these bytes; one of another size is not read.
    private static func holds(_ url: URL, _ bytes: [UInt8]) throws(CatalogError) -> Bool {
        var status = stat()
        if stat(url.path, &status) == 0, status.st_size != bytes.count { return false }
        return try Self.bytes(url) == bytes
    }

    /// Writes the signature before the document that it signs; the file also keeps the signature of the previous
    /// catalog.
    private func sign(_ bytes: [UInt8]) throws(CatalogError) {
        let target = folder.appendingPathComponent(CatalogIndex.signatureName)
        let held = try Self.bytes(target)
        guard let signingKey else { return }
        // An unreadable signature file is replaced: no reader can use it.
        let earlier = held.flatMap { try? CatalogSignature(decoding: $0) }
        let digest = Digest(of: bytes)
        if let earlier, earlier.signatures.first?.sha256 == digest.hex,
            // A signature that does not match is written again.
            (try? earlier.check(bytes, by: try signingKey.publicKey)) != nil
        {
            return
        }
        let signature = try CatalogJSON.encode(
            CatalogSignature(signing: bytes, digest, with: signingKey, earlier: earlier),
            named: CatalogIndex.signatureName)
        try checkMayChange()
        try CatalogError.naming { () throws(StorageError) in try Durable.write(signature, to: target) }
    }

    /// Refuses to change a signed catalog without its key, because clients would refuse the changed catalog.
    ///
    /// - Throws: `signing-key`; `catalog-corrupt`, `io`.
    public func checkMaySign() throws(CatalogError) {
        let target = folder.appendingPathComponent(CatalogIndex.signatureName)
        if let signingKey {
            let own = try signingKey.publicKey.id
            // An unreadable signature file names no other key.
            guard let held = try Self.bytes(target), let earlier = try? CatalogSignature(decoding: held),
                earlier.keyID != own
            else { return }
            throw CatalogError(
                .signingKey,
                "The catalog in '\(folder.path)' is signed with key \(earlier.keyID), not with \(own): clients that have the public key of the first "
                    + "would refuse the catalog. Give the key that signed it; to change keys, remove '\(CatalogIndex.signatureName)' first."
            )
        }
        guard access(target.path, F_OK) == 0 else { return }
        throw CatalogError(
            .signingKey,
            "The catalog in '\(folder.path)' is signed, and no key is given to sign the new version. Give --signing-key FILE, "
                + "or remove '\(CatalogIndex.signatureName)' to make the catalog unsigned.")
    }

    /// The bytes of a small file; `nil` if it does not exist.
    static func bytes(_ url: URL) throws(CatalogError) -> [UInt8]? {
        guard access(url.path, F_OK) == 0 || errno != ENOENT else { return nil }
        do { return Array(try Data(contentsOf: url)) } catch {
            throw CatalogError(.io, "Cannot read '\(url.path)': \(error.localizedDescription)", cause: error)
        }
    }

    /// These regions and their ancestors: first the nodes of the embedded tree in its order, then nodes that packages
    /// supplied.
    private static func nodes(
        above regions: Set<String>, in tree: RegionTree, _ imported: [String: CatalogIndex.Node]
    ) -> [CatalogIndex.Node] {
        var wanted = regions
        for id in regions {
            var next = imported[id]?.parent ?? tree.parent(of: id)?.id
            while let region = next, wanted.insert(region).inserted {
                next = imported[region]?.parent ?? tree.parent(of: region)?.id
            }
        }
        let own = tree.regions.filter { wanted.contains($0.id) }.map {
            CatalogIndex.Node(id: $0.id, parent: $0.parentID, kind: $0.kind.rawValue, names: $0.names)
        }
        // Parents first: each round adds the supplied nodes whose parent is already in the result.
        var found = own
        var there = Set(own.map(\.id))
        var left = imported.values.filter { wanted.contains($0.id) }.sorted { $0.id < $1.id }
        while !left.isEmpty {
            let next = left.filter { node in node.parent.map { there.contains($0) } ?? true }
            // A node whose parent is unknown is left out, with its descendants.
            guard !next.isEmpty else { break }
            found += next
            there.formUnion(next.map(\.id))
            left.removeAll { there.contains($0.id) }
        }
        return found
    }

    private static let tree = Result<RegionTree, CatalogError> { () throws(CatalogError) in
        do { return try RegionTree.embedded() } catch {
            throw CatalogError(.corrupt, "The region tree of this build cannot be read: \(error)", cause: error)
        }
    }
}

extension CatalogIndex.Package {
    init(_ source: CatalogCache.IndexSource) {
        self.init(
            id: source.entry.id, edition: source.edition.path, region: source.region,
            names: Dictionary(
                source.entry.metainfo.map {
                    ($0.key.hasPrefix("name_") ? String($0.key.dropFirst(5)) : $0.key, $0.value)
                },
                uniquingKeysWith: { first, _ in first }),
            versions: ([source.entry] + source.older).map { $0.version(in: source.edition) }, tilePacks: source.packs,
            part: source.entry.part)
    }
}

extension CatalogEntry {
    /// The entry in the form of `catalog.json`.
    public func version(in edition: CatalogEdition) -> CatalogIndex.Version {
        CatalogIndex.Version(
            version: version, tileMask: tileMask, tilesHash: tilesHash, tileset: tileset, minZoom: minZoom,
            maxZoom: maxZoom, attribution: attribution, dataDate: dataDate, sourceBuild: sourceBuild,
            asked: asked, encoding: encoding, tileSize: tileSize, companion: companion,
            files: allFiles.map {
                CatalogIndex.File(
                    format: $0.format, url: edition.path + path($0.fileExtension), size: $0.size, sha256: $0.sha256)
            },
            patches: patches.map {
                CatalogIndex.Patch(
                    from: $0.from, format: $0.format,
                    url: edition.path + patchPath(from: $0.from, format: $0.format), size: $0.size, sha256: $0.sha256)
            })
    }
}
