public import Foundation
internal import Shards

/// A folder clients download from: `packages.json` and immutable files `packages/<version>/<id>.mbtiles`.
///
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
                if access(listURL.path, F_OK) != 0 { try write(CatalogList()) }
            }
        }
        guard access(listURL.path, F_OK) == 0 else {
            throw CatalogError(
                .missing, "There is no catalog in '\(folder.path)' ('packages.json' is missing). Correct --catalog.")
        }
    }

    /// The list, ascending by id.
    ///
    /// - Throws: `catalog-corrupt`, `io`.
    public func packages() throws(CatalogError) -> [CatalogEntry] { try list().packages }

    /// Puts a finished package into the catalog.
    ///
    /// The version is one more than the last, and stays when the bytes are the same; then the list is only written if the mask
    /// or the names changed. The file is linked when it lies on the same file system, and copied otherwise. It is hashed before
    /// it is listed. Blocks for the time of reading the file.
    /// - Throws: `bad-request`, `bad-file`, `catalog-corrupt`, `disk-full`, `io`; the list is then as it was.
    public func publish(_ request: PublishRequest) throws(CatalogError) -> Published {
        try request.check()
        return try locked { () throws(CatalogError) in
            var list = try list()
            let previous = list.packages.first { $0.id == request.id }
            let sha256 = request.digest.hex
            let same = previous.map { $0.sha256 == sha256 } ?? false
            let version: Int32
            if let previous, same {
                version = previous.version
                let held = place(previous.path)
                if try fileSize(held) != request.size { try place(request, at: held) }
            } else {
                version = try place(request, after: previous?.version ?? 0)
            }
            let entry = CatalogEntry(
                id: request.id, version: version, size: Int64(request.size), url: address(request.id, version),
                tileMask: request.maskWire,
                metainfo: Dictionary(uniqueKeysWithValues: request.names.map { ("name_\($0.key)", $0.value) }),
                sha256: sha256, tilesHash: request.tilesHash)
            if previous != entry {
                list.packages.removeAll { $0.id == request.id }
                list.packages.append(entry)
                try write(list)
            }
            return Published(version: version, path: place(entry.path), unchanged: same)
        }
    }

    // MARK: - Inside

    var listURL: URL { folder.appendingPathComponent("packages.json") }

    func place(_ path: String) -> URL { folder.appendingPathComponent(path) }

    /// The address of a package; every character an id may have stands for itself in the path of an address.
    func address(_ id: String, _ version: Int32) -> String { baseURL + CatalogEntry.path(id, version) }

    func list() throws(CatalogError) -> CatalogList {
        do {
            let list = try JSONDecoder().decode(CatalogList.self, from: try Data(contentsOf: listURL))
            guard Set(list.packages.map(\.id)).count == list.packages.count else {
                throw CatalogError(.corrupt, "'\(listURL.path)' names a package twice.")
            }
            return list
        } catch let error as DecodingError {
            throw CatalogError(
                .corrupt,
                "'\(listURL.path)' is not a list this build wrote; it is left as it is. Restore it from a backup.",
                cause: error)
        } catch let error as CatalogError {
            throw error
        } catch {
            throw CatalogError(.io, "Cannot read '\(listURL.path)': \(error.localizedDescription)", cause: error)
        }
    }

    /// Writes the list, sorted by id, with today's base address.
    private func write(_ list: CatalogList) throws(CatalogError) {
        var list = list
        list.packages = list.packages.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }.map {
            CatalogEntry(
                id: $0.id, version: $0.version, size: $0.size, url: address($0.id, $0.version), tileMask: $0.tileMask,
                metainfo: $0.metainfo, sha256: $0.sha256, tilesHash: $0.tilesHash)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        let bytes: [UInt8]
        do { bytes = [UInt8](try encoder.encode(list)) + [0x0A] } catch {
            throw CatalogError(.corrupt, "The package list cannot be written as JSON: \(error)", cause: error)
        }
        try CatalogError.naming { () throws(ShardsError) in try Durable.write(bytes, to: listURL) }
    }

    /// Keeps other threads and processes out while the catalog changes.
    private func locked<Result>(_ body: () throws(CatalogError) -> Result) throws(CatalogError) -> Result {
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
