import CatalogFormat
internal import Digests
internal import ObjectStore

/// What a target has before a push: the lists that the push may replace, and the files that are known.
struct PushedCatalog: Sendable {
    /// The sizes of all objects, by name.
    let objects: [String: UInt64]
    /// The documents as they were read; those that are not there are missing.
    let documents: [String: StoredObject]
    /// Its `catalog.json`; `nil` without one.
    let index: CatalogIndex?
    /// The SHA-256 of the files that its lists name, and of those that an unfinished push has sent.
    let known: [String: String]

    /// Reads a target.
    ///
    /// - Parameters:
    ///   - paths: The documents of the push.
    ///   - isReplaced: Whether a `catalog.json` that cannot be read counts as none.
    /// - Throws: ``CatalogError`` for a `catalog.json` that cannot be read; errors of the target.
    init(_ target: any PushTarget, reading paths: [String], replacing isReplaced: Bool) async throws {
        var documents: [String: StoredObject] = [:]
        // The index comes first: whoever replaces it after this is found when it is replaced again.
        documents[CatalogIndex.fileName] = try await target.read(CatalogIndex.fileName)
        var index: CatalogIndex?
        if let bytes = documents[CatalogIndex.fileName]?.bytes {
            do { index = try CatalogIndex(decoding: bytes) } catch { if !isReplaced { throw error } }
        }
        let packs = index?.packages.compactMap { $0.tilePacks?.url } ?? []
        // The index is not read a second time: one that has come since is of another publisher.
        for path in Set(paths + packs + [CatalogIndex.signatureName]).subtracting([CatalogIndex.fileName]).sorted() {
            documents[path] = try await target.read(path)
        }
        var known = PushJournal.files(in: try await target.read(PushJournal.name)?.bytes)
        for (path, sha256) in Self.files(of: index, documents) { known[path] = sha256 }
        (self.documents, self.index, self.known) = (documents, index, known)
        objects = try await target.objects()
    }

    /// Whether it has a file of the catalog.
    func has(_ file: CatalogLists.File) -> Bool {
        objects[file.path] == file.size && known[file.path] == file.sha256.hex
    }

    /// The id of the key that it is signed with; `nil` for a catalog without a readable signature.
    var keyID: String? {
        documents[CatalogIndex.signatureName].flatMap { try? CatalogSignature(decoding: $0.bytes).keyID }
    }

    /// The SHA-256 of each file that the lists name.
    private static func files(of index: CatalogIndex?, _ documents: [String: StoredObject]) -> [String: String] {
        var known: [String: String] = [:]
        for style in index?.styles ?? [] { known[style.url] = style.sha256 }
        for package in index?.packages ?? [] {
            if let list = package.tilePacks, let bytes = documents[list.url]?.bytes,
                // The packs of a list that cannot be read are sent again.
                let packs = try? TilePackList(decoding: bytes, named: list.url).packs
            {
                for pack in packs { known[package.edition + pack.path] = pack.sha256 }
            }
            for version in package.versions {
                for file in version.files { known[file.url] = file.sha256 }
                for patch in version.patches { known[patch.url] = patch.sha256 }
            }
        }
        return known
    }
}
