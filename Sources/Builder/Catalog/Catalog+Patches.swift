public import CatalogFormat
public import Digests
public import Errors
internal import Files
public import Foundation

/// A patch that a catalog could offer and does not have yet.
public struct WantedPatch: Sendable {
    /// The package's id.
    public let id: String
    /// Where it is.
    public let edition: CatalogEdition
    /// The version a client may have.
    public let from: Int32
    /// The newest version.
    public let to: Int32
    /// The format of both files; `nil` for MBTiles, ``CatalogCompanion/format`` for a companion.
    public let format: String?
    /// The file of version `from`.
    public let old: URL
    /// The file of version `to`.
    public let new: URL
}

/// Writes a patch that turns the file ``WantedPatch/old`` into ``WantedPatch/new``, byte for byte, to `target`; returns the SHA-256
/// and length of the patch.
///
/// Returns `nil` if no patch can produce exactly these bytes; `target` need not exist then.
public typealias PatchMaker =
    @Sendable (_ wanted: WantedPatch, _ target: URL) throws -> (digest: Digest, size: UInt64)?

extension Catalog {
    /// The missing patches from previous versions to the newest ones, as far as the previous files are kept.
    ///
    /// - Parameters:
    ///   - id: The package; `nil` = all of the edition.
    ///   - previous: How many earlier versions get a patch.
    /// - Throws: `catalog-corrupt`, `io`.
    public func wantedPatches(
        _ id: String? = nil, in edition: CatalogEdition = .main, previous: Int = PatchRule.previousVersions
    ) throws(CatalogError) -> [WantedPatch] {
        try wantedPatches(of: id.map { [$0] }, in: edition, previous: previous)
    }

    /// The same for some packages; `nil` = all of the edition.
    public func wantedPatches(
        of ids: Set<String>?, in edition: CatalogEdition, previous: Int = PatchRule.previousVersions
    ) throws(CatalogError) -> [WantedPatch] {
        let history = try history(edition)
        var wanted: [WantedPatch] = []
        for entry in try packages(in: edition) where ids?.contains(entry.id) ?? true {
            for old in history.of(entry).prefix(previous) {
                for new in entry.allFiles where PatchRule.formats.contains(new.format) {
                    let format = new.format == CatalogEntry.mainFile.format ? nil : new.format
                    // A companion with the same bytes for another engine is one copy.
                    guard let before = old.allFiles.first(where: { $0.format == new.format }),
                        before.sha256 != new.sha256 || entry.companion != nil,
                        !entry.isPatchSettled(from: old.version, format: format)
                    else { continue }
                    let file = place(old.path(before.fileExtension), edition)
                    guard try fileSize(file) != nil else { continue }
                    wanted.append(
                        WantedPatch(
                            id: entry.id, edition: edition, from: old.version, to: entry.version, format: format,
                            old: file, new: place(entry.path(new.fileExtension), edition)))
                }
            }
        }
        return wanted
    }

    /// The folder of unfinished files.
    ///
    /// It is inside the catalog so that finished files can be linked.
    static let making = ".making/"

    /// Makes a patch and puts it into the catalog.
    ///
    /// Blocks while it reads both versions.
    /// - Parameter maker: Writes the patch file; this module does not depend on a package format.
    /// - Returns: Whether the patch is listed now; see ``add(_:file:digest:size:)``.
    /// - Throws: what `maker` throws, and ``CatalogError``.
    public func make(_ wanted: WantedPatch, with maker: PatchMaker) throws -> Bool {
        var failure: (any Error)?
        let listed = try make([wanted], with: maker) { failure = $1 }
        if let failure { throw failure }
        return listed > 0
    }

    /// Makes patches and lists all of them at once: each list is written once, not once per patch.
    ///
    /// Blocks while it reads both versions of each package.
    /// - Parameters:
    ///   - maker: Writes a patch file; this module does not depend on a package format.
    ///   - failed: Is called with each patch that failed and its error; the other patches are still made.
    /// - Returns: How many of them are listed now.
    /// - Throws: `signing-key`, `catalog-corrupt`, `disk-full`, `io`; nothing is listed then.
    public func make(
        _ wanted: [WantedPatch], with maker: PatchMaker, failed: (WantedPatch, any Error) -> Void
    ) throws(CatalogError) -> Int {
        guard !wanted.isEmpty else { return 0 }
        let making = folder.appendingPathComponent(Self.making)
        try CatalogError.naming { () throws(StorageError) in try Durable.makeFolder(making) }
        var finished: [MadePatch] = []
        defer {
            for patch in finished { if let file = patch.file { unlink(file.path) } }
            rmdir(making.path)
        }
        for patch in wanted {
            let file = making.appendingPathComponent(
                "\(patch.id)-\(patch.from)-\(patch.to)-\(TemporaryName.random())\(CatalogEntry.patchExtension(patch.format))"
            )
            do {
                let made = try maker(patch, file)
                finished.append(MadePatch(wanted: patch, file: file, made: made))
            } catch {
                unlink(file.path)
                failed(patch, error)
            }
        }
        return try listOrReject(finished)
    }

    /// Puts a finished patch into the catalog if it is small enough (``PatchRule``) and its package is still at that
    /// version.
    ///
    /// A patch that is too large is recorded, so that it is not made again.
    /// - Returns: Whether it is listed now.
    /// - Throws: `bad-file`, `signing-key`, `catalog-corrupt`, `disk-full`, `io`.
    public func add(
        _ wanted: WantedPatch, file: URL, digest: Digest, size: UInt64
    ) throws(CatalogError) -> Bool {
        try listOrReject([MadePatch(wanted: wanted, file: file, made: (digest, size))]) > 0
    }

    private struct MadePatch {
        let wanted: WantedPatch
        let file: URL?
        /// `nil` when no patch can produce the bytes of the new version.
        let made: (digest: Digest, size: UInt64)?
    }

    /// Lists the patches that are small enough, and records the others as rejected.
    ///
    /// Skips patches whose package has a newer version by now.
    private func listOrReject(_ patches: [MadePatch]) throws(CatalogError) -> Int {
        try checkMaySign()
        return try locked { () throws(CatalogError) in
            var lists: [CatalogEdition: CatalogList] = [:]
            var (listed, isChanged) = (0, Set<CatalogEdition>())
            for patch in patches {
                let (wanted, edition) = (patch.wanted, patch.wanted.edition)
                var list: CatalogList
                if let known = lists[edition] { list = known } else { list = try self.list(edition) }
                lists[edition] = list
                let index = list.packages.firstIndex { $0.id == wanted.id && $0.version == wanted.to }
                guard let index else { continue }
                let entry = list.packages[index]
                guard !entry.isPatchSettled(from: wanted.from, format: wanted.format) else {
                    let isListed = entry.patches.contains { $0.from == wanted.from && $0.format == wanted.format }
                    listed += isListed ? 1 : 0
                    continue
                }
                if let placed = try place(patch, entry) {
                    list.packages[index].add(placed)
                    listed += 1
                } else {
                    list.packages[index].skipPatch(from: wanted.from, format: wanted.format)
                }
                lists[edition] = list
                isChanged.insert(edition)
            }
            guard !isChanged.isEmpty else { return listed }
            try markIndexStale()
            for edition in isChanged.sorted() { if let list = lists[edition] { try write(list, edition) } }
            try refreshIndex()
            unmarkIndex()
            return listed
        }
    }

    /// Moves a patch that is small enough to its place; `nil` for one that is too large.
    private func place(_ patch: MadePatch, _ entry: CatalogEntry) throws(CatalogError) -> CatalogEntry.Patch? {
        let (from, format) = (patch.wanted.from, patch.wanted.format)
        let whole = entry.allFiles.first { $0.format == format ?? CatalogEntry.mainFile.format }
        guard let file = patch.file, let made = patch.made, let bytes = Int64(exactly: made.size), let whole,
            PatchRule.pays(patch: bytes, whole: whole.size)
        else { return nil }
        let published = PublishFile(
            format: "patch", fileExtension: CatalogEntry.patchExtension(format), url: file, digest: made.digest,
            size: made.size)
        // No list names this file yet, so an existing file there is not in use.
        let target = place(entry.patchPath(from: from, format: format), patch.wanted.edition)
        try replace(target, with: published, of: patch.wanted.id)
        return CatalogEntry.Patch(from: from, format: format, url: "", size: bytes, sha256: made.digest.hex)
    }
}
