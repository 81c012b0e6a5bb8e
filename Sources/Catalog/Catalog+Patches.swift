public import Foundation
public import Shards

/// When an update is worth fetching as a patch.
public enum PatchRule {
    /// Earlier versions that get a patch to a new one: HERE's rule, from the two previous releases.
    public static let previousVersions = 2

    /// Whether a patch is small enough to be preferred over the whole file: below seven tenths of it.
    ///
    /// A patch costs a client more than its bytes: it reads the old file, writes the new one, and needs the whole file after all
    /// when anything is wrong.
    public static func pays(patch: Int64, whole: Int64) -> Bool {
        patch >= 0 && whole > 0 && Double(patch) < 0.7 * Double(whole)
    }
}

/// A patch that a catalog could offer and does not have.
public struct WantedPatch: Sendable {
    /// The package's id.
    public let id: String
    /// Where it is.
    public let edition: CatalogEdition
    /// The version a client may have.
    public let from: Int32
    /// The newest version.
    public let to: Int32
    /// The MBTiles file of version `from`.
    public let old: URL
    /// The MBTiles file of version `to`.
    public let new: URL
}

/// Writes what turns the package file `old` into `new`, byte for byte, to `target`, and tells the SHA-256 and length of what it wrote.
///
/// `nil` when no patch can give those very bytes; nothing needs to be at `target` then.
public typealias PatchMaker =
    @Sendable (_ old: URL, _ new: URL, _ target: URL) throws -> (digest: Digest, size: UInt64)?

extension Catalog {
    /// Patches from previous versions to the newest ones that are not there, as far as the previous files are kept.
    ///
    /// - Parameters:
    ///   - id: The package; `nil` = all of the edition.
    ///   - previous: How many earlier versions get one.
    /// - Throws: `catalog-corrupt`, `io`.
    public func wantedPatches(
        _ id: String? = nil, in edition: CatalogEdition = .main, previous: Int = PatchRule.previousVersions
    ) throws(CatalogError) -> [WantedPatch] {
        let history = try history(edition)
        var wanted: [WantedPatch] = []
        for entry in try packages(in: edition) where id == nil || entry.id == id {
            for old in history.of(entry).prefix(previous) where old.sha256 != entry.sha256 {
                let file = place(old.path, edition)
                guard !entry.isPatchSettled(from: old.version), try fileSize(file) != nil else { continue }
                wanted.append(
                    WantedPatch(
                        id: entry.id, edition: edition, from: old.version, to: entry.version, old: file,
                        new: place(entry.path, edition)))
            }
        }
        return wanted
    }

    /// The folder of files that are not done, inside the catalog so that they can be linked.
    static let making = ".making/"

    /// Makes a patch and puts it into the catalog.
    ///
    /// Blocks for the time of reading both versions.
    /// - Parameter maker: Writes the patch file; this room knows no package format.
    /// - Returns: Whether it is listed now; see ``add(_:file:digest:size:)``.
    /// - Throws: what `maker` throws, and ``CatalogError``.
    public func make(_ wanted: WantedPatch, with maker: PatchMaker) throws -> Bool {
        let making = folder.appendingPathComponent(Self.making)
        try CatalogError.naming { () throws(ShardsError) in try Durable.makeFolder(making) }
        let file = making.appendingPathComponent(
            "\(wanted.id)-\(wanted.from)-\(wanted.to)-\(String(UInt64.random(in: 0...UInt64.max), radix: 16)).mbtiles")
        defer {
            unlink(file.path)
            rmdir(making.path)
        }
        guard let made = try maker(wanted.old, wanted.new, file) else {
            return try settle(wanted) { _ throws(CatalogError) in nil }
        }
        return try add(wanted, file: file, digest: made.digest, size: made.size)
    }

    /// Puts a finished patch into the catalog, if it pays and its package is still at that version.
    ///
    /// One that does not pay is remembered, so that it is not wanted again.
    /// - Returns: Whether it is listed now.
    /// - Throws: `bad-file`, `signing-key`, `catalog-corrupt`, `disk-full`, `io`.
    public func add(
        _ wanted: WantedPatch, file: URL, digest: Digest, size: UInt64
    ) throws(CatalogError) -> Bool {
        try settle(wanted) { entry throws(CatalogError) in
            guard let bytes = Int64(exactly: size), PatchRule.pays(patch: bytes, whole: entry.size) else { return nil }
            let patch = PublishFile(format: "patch", fileExtension: ".mbtiles", url: file, digest: digest, size: size)
            // No list names this file yet, so what lies there is of nobody's use.
            try replace(place(entry.patchPath(from: wanted.from), wanted.edition), with: patch, of: wanted.id)
            return CatalogEntry.Patch(from: wanted.from, url: "", size: bytes, sha256: digest.hex)
        }
    }

    /// Lists what `place` puts there, or notes that there is no patch; does nothing when the package has another version by now.
    private func settle(
        _ wanted: WantedPatch, _ place: (CatalogEntry) throws(CatalogError) -> CatalogEntry.Patch?
    ) throws(CatalogError) -> Bool {
        try checkMaySign()
        return try locked { () throws(CatalogError) in
            var list = try list(wanted.edition)
            guard let index = list.packages.firstIndex(where: { $0.id == wanted.id && $0.version == wanted.to }) else {
                return false
            }
            let entry = list.packages[index]
            if entry.isPatchSettled(from: wanted.from) { return entry.patches.contains { $0.from == wanted.from } }
            let patch = try place(entry)
            if let patch { list.packages[index].add(patch) } else { list.packages[index].skipPatch(from: wanted.from) }
            try write(list, wanted.edition)
            try refreshIndex()
            return patch != nil
        }
    }
}
