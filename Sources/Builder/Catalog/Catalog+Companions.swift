public import CatalogFormat
public import Digests
public import Errors
public import Foundation

/// A file that belongs to a package and is no map, as it is published.
public struct CompanionRequest: Sendable {
    /// The package it belongs to; of a package in parts the id of the whole.
    public var id: String
    /// What it is.
    public var companion: CatalogCompanion
    /// The finished file; it is linked or copied, not moved.
    public var file: URL
    /// SHA-256 of the file.
    public var digest: Digest
    /// Bytes of the file, at least 1.
    public var size: UInt64
    /// How old the data is: 1 to 40 printable characters; `nil` if unknown.
    public var dataDate: String?

    /// Describes a file.
    public init(
        id: String, companion: CatalogCompanion, file: URL, digest: Digest, size: UInt64, dataDate: String? = nil
    ) {
        (self.id, self.companion, self.file) = (id, companion, file)
        (self.digest, self.size, self.dataDate) = (digest, size, dataDate)
    }
}

extension Catalog {
    /// Publishes a file below a package: an entry with the package's id, mask and names in the data group of its kind.
    ///
    /// The version is the last one plus one; it stays while the bytes, the extension and the engine stay. The lists change in one step.
    /// Blocks while it reads the file.
    ///
    /// - Parameter isDry: Whether to change nothing; then the result names the version that the file would get.
    /// - Throws: `missing-package` when no list has the package; `bad-request` for an invalid kind, extension or engine, for an
    ///   empty file, and when the group of the kind has a map; `signing-key`, `catalog-corrupt`, `disk-full`, `io`.
    public func attach(_ request: CompanionRequest, isDry: Bool = false) throws(CatalogError) -> Published {
        let companion = request.companion
        try Self.check(companion)
        guard request.size > 0 else {
            throw CatalogError(.badRequest, "'\(request.file.path)' is empty; a companion has at least one byte.")
        }
        let package = try owner(of: request.id)
        let edition = try CatalogEdition(group: CatalogCompanion.group(of: companion.kind))
        let listed = try packages(in: edition)
        if let map = listed.first(where: { $0.companion?.kind != companion.kind }) {
            throw CatalogError(
                .badRequest,
                "Group '\(edition.path.dropLast())' has the package '\(map.id)', which is no companion of kind '\(companion.kind)'. Choose another kind."
            )
        }
        let previous = listed.first { $0.id == request.id }
        let entry = CatalogEntry(
            id: request.id, version: 1, size: Int64(clamping: request.size), url: "", tileMask: package.tileMask,
            metainfo: package.metainfo, sha256: request.digest.hex, tilesHash: request.digest.hex,
            dataDate: request.dataDate, nodes: package.nodes, companion: companion)
        var publication = try PublishRequest(companion: entry, file: request.file, in: edition)
        publication.options.dataDate = request.dataDate
        try publication.check()
        let stays = previous?.sha256 == request.digest.hex && previous?.companion == companion
        let isListed = stays && previous?.tileMask == package.tileMask && previous?.dataDate == request.dataDate
        guard isDry else {
            let done = try publish(publication)
            return published(done.version, of: entry, in: edition, unchanged: isListed && done.unchanged)
        }
        let last = try history(edition).last(of: request.id, previous)
        guard stays || last < Int32.max else {
            throw CatalogError(.badRequest, "Package '\(request.id)' has used up its versions.")
        }
        return published(stays ? last : last + 1, of: entry, in: edition, unchanged: isListed)
    }

    /// Withdraws the companions of a kind; the lists change in one step.
    ///
    /// - Returns: What was removed, or with `isDry` would be.
    /// - Throws: `bad-request` for an invalid kind; `missing-package` when a package has no such companion; `signing-key`,
    ///   `catalog-corrupt`, `disk-full`, `io`.
    public func detach(_ ids: [String], kind: String, isDry: Bool) throws(CatalogError) -> CatalogPruning {
        try Self.checkKind(kind)
        let known = try companions()
        for id in ids {
            let has = known.filter { $0.entry.id == id }.map(\.kind)
            guard !has.contains(kind) else { continue }
            throw CatalogError(
                .missingPackage,
                "Package '\(id.prefix(130))' has no companion of kind '\(kind)'\(has.isEmpty ? "" : "; it has \(has.joined(separator: ", "))")."
            )
        }
        return try remove(ids, group: CatalogCompanion.group(of: kind), dryRun: isDry)
    }

    /// A listed companion.
    public struct ListedCompanion: Sendable {
        /// Where it is.
        public let edition: CatalogEdition
        /// Its entry; the id is that of its package.
        public let entry: CatalogEntry
        /// What it is for.
        public let kind: String
    }

    /// All listed companions, ascending by group, then id.
    ///
    /// - Throws: `catalog-corrupt`, `io`.
    public func companions() throws(CatalogError) -> [ListedCompanion] {
        var found: [ListedCompanion] = []
        for edition in try editions() {
            for entry in try packages(in: edition) {
                guard let companion = entry.companion else { continue }
                found.append(ListedCompanion(edition: edition, entry: entry, kind: companion.kind))
            }
        }
        return found
    }

    /// The package that a companion belongs to: of the base map, in whichever language it is.
    func owner(of id: String) throws(CatalogError) -> CatalogEntry {
        for edition in try editions() where edition.group == nil {
            let wholes = try wholePackages(among: [id], in: edition)
            if let package = wholes.first { return package }
        }
        throw CatalogError(
            .missingPackage,
            "The catalog in '\(folder.path)' has no package '\(id.prefix(130))'. Publish the map first; a companion has its area and names."
        )
    }

    private func published(
        _ version: Int32, of entry: CatalogEntry, in edition: CatalogEdition, unchanged: Bool
    ) -> Published {
        let path = CatalogEntry.path(entry.id, version: version, fileExtension: entry.main.fileExtension)
        return Published(
            version: version, path: place(path, edition), pathInside: edition.path + path, unchanged: unchanged,
            losesPacks: false)
    }

    /// Refuses a kind, an extension or an engine that cannot be listed.
    static func check(_ companion: CatalogCompanion) throws(CatalogError) {
        try checkKind(companion.kind)
        guard companion.isValid else {
            throw CatalogError(
                .badRequest,
                "The extension '\(companion.fileExtension.prefix(50))' or the engine '\(companion.engine?.prefix(70) ?? "")' cannot be listed: an extension has up to 39 letters, digits, dots and hyphens, an engine up to 64 visible characters."
            )
        }
    }

    private static func checkKind(_ kind: String) throws(CatalogError) {
        guard CatalogCompanion.isKind(kind) else {
            throw CatalogError(
                .badRequest,
                "'\(kind.prefix(40))' is no kind: use words of lower-case letters and digits between dots, at most 32 bytes, such as routing.valhalla."
            )
        }
    }

    /// Refuses a map in a group of companions, and the reverse; all entries of a list are alike.
    static func checkIsAlike(_ list: CatalogList, _ request: PublishRequest) throws(CatalogError) {
        guard let previous = list.packages.first, previous.companion?.kind != request.entry?.companion?.kind else {
            return
        }
        throw CatalogError(
            .badRequest,
            "Edition '\(request.options.edition)' has \(previous.companion.map { "companions of kind '\($0.kind)'" } ?? "maps"), so '\(request.id)' cannot be published in it. Use another group."
        )
    }
}

extension PublishRequest {
    /// Publishes a new companion.
    fileprivate init(companion entry: CatalogEntry, file: URL, in edition: CatalogEdition) throws(CatalogError) {
        guard let digest = Digest(hex: entry.sha256), let size = UInt64(exactly: entry.size) else {
            throw CatalogError(.badRequest, "The file of '\(entry.id)' has no digest or size.")
        }
        self.init(
            id: entry.id, file: file, digest: digest, size: size, maskWire: entry.tileMask, names: [:],
            tilesHash: entry.tilesHash)
        self.entry = entry
        nodes = entry.nodes ?? []
        options.edition = edition
        // Its file may have any size, and its area is that of the map.
        (options.allowsShrink, options.replacesArea, options.replacesTileset) = (true, true, true)
    }
}
