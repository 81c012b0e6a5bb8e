public import Foundation
internal import Shards

/// A folder clients download from: `packages.json` and immutable files `packages/<version>/<id>.mbtiles`.
///
/// Other formats of a package lie beside it with extensions of their own; other editions (``CatalogEdition``) in sub-folders.
/// One process writes it (others are kept out by a lock while it does); any number read it through a web server. A reader sees
/// the old list or the new one, and every file a list names is complete before the list is. Files of earlier versions stay: a
/// client that began to download one can go on.
public struct Catalog: Sendable {
    /// The folder.
    public let folder: URL
    /// What the addresses in the list begin with; ends in a slash.
    public let baseURL: String

    /// The base address when none is configured.
    public static let defaultBaseURL = "http://localhost:7480/"

    /// Opens the catalog in a folder.
    ///
    /// - Parameters:
    ///   - folder: The catalog's folder.
    ///   - create: Whether to make an empty catalog when there is none.
    ///   - baseURL: Absolute address under which the folder is served; CARTO's client needs absolute addresses.
    /// - Throws: `catalog-missing` without a catalog and without `create`; `bad-request` for an unusable address; `io`, `disk-full`.
    public init(_ folder: URL, create: Bool, baseURL: String = Catalog.defaultBaseURL) throws(CatalogError) {
        guard baseURL.hasPrefix("http://") || baseURL.hasPrefix("https://"), !baseURL.contains("?"),
            !baseURL.contains("#"),
            !baseURL.contains(where: \.isWhitespace)
        else {
            throw CatalogError(
                .badRequest,
                "'\(baseURL)' cannot be the catalog's address. Give an absolute one such as \(Catalog.defaultBaseURL).")
        }
        self.folder = folder
        self.baseURL = baseURL.hasSuffix("/") ? baseURL : baseURL + "/"
        if create {
            try CatalogError.naming { () throws(ShardsError) in
                try Durable.makeFolder(folder.appendingPathComponent("packages"))
            }
            try locked { () throws(CatalogError) in
                if access(listURL.path, F_OK) != 0 { try write(CatalogList(), .main) }
            }
        }
        guard access(listURL.path, F_OK) == 0 else {
            throw CatalogError(
                .missing, "There is no catalog in '\(folder.path)' ('packages.json' is missing). Correct --catalog.")
        }
    }

    /// The list of an edition, ascending by id; empty when there is no such edition.
    ///
    /// - Throws: `catalog-corrupt`, `io`.
    public func packages(in edition: CatalogEdition = .main) throws(CatalogError) -> [CatalogEntry] {
        try list(edition).packages
    }

    /// Puts a finished package into the catalog, in all of its formats.
    ///
    /// The version is one more than the last, and stays when the bytes of all files are the same; a format that was not there is
    /// added to the version it belongs to. The list is only written if something in it changed. Files are linked when they lie on
    /// the same file system, and copied otherwise. Each is hashed before it is listed. Blocks for the time of reading them.
    /// - Throws: `bad-request`, `bad-file`, `other-tileset`, `catalog-corrupt`, `disk-full`, `io`; the list is then as it was.
    public func publish(_ request: PublishRequest) throws(CatalogError) -> Published {
        try request.check()
        let edition = request.edition
        return try locked { () throws(CatalogError) in
            var list = try list(edition)
            let previous = list.packages.first { $0.id == request.id }
            if let known = previous?.tileset, !request.tileset.isEmpty, known != request.tileset,
                !request.replacesTileset
            {
                throw CatalogError(
                    .otherTileset,
                    "Package '\(request.id)' of catalog '\(edition)' is made of tileset '\(known)'; one of '\(request.tileset)' would take its place. Publish it to another catalog or under another id, or allow the replacement."
                )
            }
            let (version, isSame) = try place(request, previous)
            let entry = CatalogEntry(
                request, version: version, keeping: previous?.version == version ? previous?.files ?? [] : [],
                base: baseURL + edition.path)
            if previous != entry {
                list.packages.removeAll { $0.id == request.id }
                list.packages.append(entry)
                try write(list, edition)
            }
            return Published(version: version, path: place(entry.path, edition), unchanged: isSame)
        }
    }

    // MARK: - Inside

    var listURL: URL { listURL(.main) }

    func listURL(_ edition: CatalogEdition) -> URL { place("packages.json", edition) }

    func place(_ path: String, _ edition: CatalogEdition) -> URL { folder.appendingPathComponent(edition.path + path) }

    func list(_ edition: CatalogEdition) throws(CatalogError) -> CatalogList {
        let url = listURL(edition)
        if edition != .main, access(url.path, F_OK) != 0, errno == ENOENT { return CatalogList() }
        do {
            let list = try JSONDecoder().decode(CatalogList.self, from: try Data(contentsOf: url))
            guard Set(list.packages.map(\.id)).count == list.packages.count else {
                throw CatalogError(.corrupt, "'\(url.path)' names a package twice.")
            }
            return list
        } catch let error as DecodingError {
            throw CatalogError(
                .corrupt,
                "'\(url.path)' is not a list this build wrote; it is left as it is. Restore it from a backup.",
                cause: error)
        } catch let error as CatalogError {
            throw error
        } catch {
            throw CatalogError(.io, "Cannot read '\(url.path)': \(error.localizedDescription)", cause: error)
        }
    }

    /// Writes the list, sorted by id, with today's base address.
    func write(_ list: CatalogList, _ edition: CatalogEdition) throws(CatalogError) {
        var list = list
        list.packages = list.packages.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }.map {
            $0.rebased(baseURL + edition.path)
        }
        try write(list, to: listURL(edition))
    }

    /// Writes a value as JSON with sorted keys, so that equal values are equal bytes.
    func write(_ value: some Encodable, to url: URL) throws(CatalogError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        let bytes: [UInt8]
        do { bytes = [UInt8](try encoder.encode(value)) + [0x0A] } catch {
            throw CatalogError(.corrupt, "'\(url.path)' cannot be written as JSON: \(error)", cause: error)
        }
        try CatalogError.naming { () throws(ShardsError) in
            try Durable.makeFolder(url.deletingLastPathComponent())
            try Durable.write(bytes, to: url)
        }
    }

    /// Keeps other threads and processes out while the catalog changes.
    func locked<Result>(_ body: () throws(CatalogError) -> Result) throws(CatalogError) -> Result {
        let path = folder.appendingPathComponent(".lock").path
        let handle = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard handle >= 0 else {
            let number = errno
            throw try CatalogError.naming { () throws(ShardsError) in throw ShardsError.system(number, "open", path) }
        }
        defer { close(handle) }
        while flock(handle, LOCK_EX) != 0 {
            let number = errno
            guard number == EINTR else {
                throw try CatalogError.naming { () throws(ShardsError) in throw ShardsError.system(number, "lock", path)
                }
            }
        }
        return try body()
    }
}
