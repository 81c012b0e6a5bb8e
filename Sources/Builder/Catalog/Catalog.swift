public import CatalogFormat
public import Errors
internal import Files
public import Foundation

/// A folder clients download from: `packages.json` and immutable files `packages/<version>/<id>.mbtiles`.
///
/// Other formats of a package lie next to it with extensions of their own; other editions (``CatalogEdition``) in
/// sub-folders. One process at a time writes it, under a lock; any number of clients read it through a web server. A
/// reader sees the old list or the new one, and every file is complete before a list names it. Files of earlier
/// versions stay, so that a client can finish a download that it began.
public struct Catalog: Sendable {
    /// The folder.
    public let folder: URL
    /// The base of the addresses in the list; ends in a slash.
    public let baseURL: String

    /// Signs `catalog.json`; `nil` leaves it unsigned.
    let signingKey: CatalogSecretKey?
    /// Versions of each package that stay, the newest included; `nil` = all.
    let keepVersions: Int?
    /// Why this process may not change it any more; `nil` = it may.
    private let refusal: @Sendable () -> String?
    /// Cache of lists, so that they need not be read and encoded again.
    let memory = CatalogCache()

    /// The base address when none is configured.
    public static let defaultBaseURL = "http://localhost:7480/"

    /// Opens the catalog in a folder.
    ///
    /// - Parameters:
    ///   - folder: The catalog's folder.
    ///   - create: Whether to make an empty catalog when there is none.
    ///   - baseURL: Absolute address under which the folder is served; CARTO's client needs absolute addresses. With `create`,
    ///     existing lists with another address are rewritten with this one. `nil` = the address of the existing lists, else
    ///     ``defaultBaseURL``.
    ///   - signingKey: Signs `catalog.json`; needed to change a catalog that is signed.
    ///   - keepVersions: Versions of each package that stay when a new one comes, the newest included; `nil` = all.
    ///   - refusal: Asked under the lock, and before each document that is written and each file that is removed: why this process may not
    ///     change the catalog any more (`catalog-changed`); `nil` = it may.
    /// - Throws: `catalog-missing` without a catalog and without `create`; `bad-request` for an unusable address;
    ///   `signing-key` for a catalog that is signed with another key, with `create` also for one without a key; `catalog-corrupt`, `io`, `disk-full`.
    public init(
        _ folder: URL, create: Bool, baseURL: String? = nil, signingKey: CatalogSecretKey? = nil,
        keepVersions: Int? = nil, refusal: @escaping @Sendable () -> String? = { nil }
    ) throws(CatalogError) {
        let isGiven = baseURL != nil
        self.baseURL = try Self.checked(base: baseURL ?? Self.listedBase(folder) ?? Self.defaultBaseURL)
        self.folder = folder
        self.signingKey = signingKey
        self.keepVersions = keepVersions
        self.refusal = refusal
        if create || signingKey != nil { try checkMaySign() }
        if create {
            try CatalogError.naming { () throws(StorageError) in
                try Durable.makeFolder(folder.appendingPathComponent("packages"))
            }
            try locked { () throws(CatalogError) in
                if access(listURL.path, F_OK) != 0 { try write(CatalogList(), .main) }
                if isGiven { try rebaseLists() }
                // Completes the work of a process that died between list and index; a catalog of an earlier build gets
                // its first index.
                try refreshIndex()
            }
        }
        guard access(listURL.path, F_OK) == 0 else {
            throw CatalogError(
                .missing,
                "There is no catalog in '\(folder.path)' ('packages.json' is missing). Give the folder that a coordinator publishes to."
            )
        }
    }

    /// The list of an edition, ascending by id; empty when there is no such edition.
    ///
    /// - Throws: `catalog-corrupt`, `io`.
    public func packages(in edition: CatalogEdition = .main) throws(CatalogError) -> [CatalogEntry] {
        try list(edition).packages
    }

    /// The same with the parts of a package as one entry, whose sizes are their sums and whose file is that of the first.
    ///
    /// - Parameter ids: The packages that are wanted; `nil` = all.
    /// - Throws: `catalog-corrupt`, `io`.
    public func wholePackages(
        among ids: Set<String>? = nil, in edition: CatalogEdition = .main
    ) throws(CatalogError) -> [CatalogEntry] {
        let list = try list(edition)
        return ids.map(list.wholes(among:)) ?? list.wholes
    }

    // MARK: - Inside

    var listURL: URL { listURL(.main) }

    func listURL(_ edition: CatalogEdition) -> URL { place("packages.json", edition) }

    func place(_ path: String, _ edition: CatalogEdition) -> URL { folder.appendingPathComponent(edition.path + path) }

    /// The entries of a `packages.json` from an untrusted source.
    ///
    /// Their ids and extensions are safe in a path; digests, sizes and masks are not checked.
    /// - Throws: `catalog-corrupt`.
    public static func entries(decoding bytes: [UInt8], named name: String) throws(CatalogError) -> [CatalogEntry] {
        let list: CatalogList
        do { list = try JSONDecoder().decode(CatalogList.self, from: Data(bytes)) } catch {
            throw CatalogError(.corrupt, "'\(name)' is not a list of this format.", cause: error)
        }
        guard Set(list.packages.map(\.id)).count == list.packages.count,
            list.packages.allSatisfy({
                CatalogEntry.isID($0.id) && $0.companion?.isValid ?? true
                    && $0.files.allSatisfy { CatalogIndex.isInside("x" + $0.fileExtension) }
            })
        else {
            throw CatalogError(.corrupt, "'\(name)' names a package twice, or has an id that cannot be a file name.")
        }
        return list.packages
    }

    func list(_ edition: CatalogEdition) throws(CatalogError) -> CatalogList { try document(edition).value.list }

    /// The list of an edition, read unless it is known and its file did not change; empty for an edition without a list.
    func document(_ edition: CatalogEdition) throws(CatalogError) -> KnownDocument<KnownList> {
        let url = listURL(edition)
        if let known = memory.list(edition, at: url) { return known }
        let file = KnownFile(path: url.path)
        if edition != .main, file == nil, access(url.path, F_OK) != 0, errno == ENOENT {
            return KnownDocument(KnownList(CatalogList(), bytes: []), bytes: [], file: nil)
        }
        do {
            let data = try Data(contentsOf: url)
            let list = try JSONDecoder().decode(CatalogList.self, from: data)
            guard Set(list.packages.map(\.id)).count == list.packages.count else {
                throw CatalogError(.corrupt, "'\(url.path)' names a package twice.")
            }
            let bytes = Array(data)
            let document = KnownDocument(KnownList(list, bytes: bytes), bytes: bytes, file: file)
            memory.cache(document, edition, wasRead: true)
            return document
        } catch let error as DecodingError {
            throw CatalogError(
                .corrupt,
                "'\(url.path)' is not a list that this build wrote; it was not changed. Restore it from a backup.",
                cause: error)
        } catch let error as CatalogError {
            throw error
        } catch {
            throw CatalogError(.io, "Cannot read '\(url.path)': \(error.localizedDescription)", cause: error)
        }
    }

    /// Writes the list, sorted by id, with the current base address.
    func write(_ list: CatalogList, _ edition: CatalogEdition) throws(CatalogError) {
        let url = listURL(edition)
        let (written, bytes) = try encoded(list, edition)
        try write(bytes, to: url)
        let list = KnownList(written, bytes: bytes)
        memory.cache(KnownDocument(list, bytes: bytes, file: KnownFile(path: url.path)), edition, wasRead: false)
    }

    /// The list as it is written: sorted by id, with the current base address.
    func encoded(
        _ list: CatalogList, _ edition: CatalogEdition
    ) throws(CatalogError) -> (list: CatalogList, bytes: [UInt8]) {
        let (base, url) = (baseURL + edition.path, listURL(edition))
        return try memory.encoding { (rows) throws(CatalogError) in
            var list = list
            list.sort()
            let known = rows.lists[edition] ?? EncodedRows()
            // Elements that were encoded before already have this base.
            for place in list.packages.indices where !known.holds(list.packages[place].id, list.packages[place]) {
                list.packages[place] = list.packages[place].rebased(base)
            }
            let packages = try rows.lists[edition, default: EncodedRows()].elements(list.packages, by: \.id) {
                (entry) throws(CatalogError) in try Self.row(entry, named: url.path)
            }
            var shell = list
            shell.packages = []
            return (
                list,
                try Self.document(
                    shell: try CatalogJSON.encode(shell, named: url.path), filling: ["packages": packages])
            )
        }
    }

    func write(_ value: some Encodable, to url: URL) throws(CatalogError) {
        try write(try CatalogJSON.encode(value, named: url.path), to: url)
    }

    /// Replaces a document, and makes the folder for it.
    func write(_ bytes: [UInt8], to url: URL) throws(CatalogError) {
        try CatalogError.naming { () throws(StorageError) in
            try Durable.makeFolder(url.deletingLastPathComponent())
        }
        try checkMayChange()
        try CatalogError.naming { () throws(StorageError) in try Durable.write(bytes, to: url) }
    }

    /// An element of a document's array, encoded as a document without a newline at its end.
    static func row(_ value: some Encodable, named name: String) throws(CatalogError) -> [UInt8] {
        try CatalogJSON.encode(value, named: name).dropLast()
    }

    /// The file whose lock is held while the catalog in a folder changes.
    public static func lockFile(in folder: URL) -> URL { folder.appendingPathComponent(".lock") }

    /// Refuses a change that this process may not make any more.
    func checkMayChange() throws(CatalogError) {
        if let text = refusal() { throw CatalogError(.changed, text) }
    }

    /// Holds a lock against other threads and processes while the catalog changes.
    ///
    /// Completes a change first that a process began as a whole and did not end.
    func locked<Result>(_ body: () throws(CatalogError) -> Result) throws(CatalogError) -> Result {
        try holdingLock { () throws(CatalogError) in
            _ = try completeChange()
            return try body()
        }
    }

    /// The same for work that may change nothing: then no interrupted change is completed either.
    func locked<Result>(isDry: Bool, _ body: () throws(CatalogError) -> Result) throws(CatalogError) -> Result {
        isDry ? try holdingLock(body) : try locked(body)
    }

    /// The same, whatever state the catalog is in.
    func holdingLock<Result>(_ body: () throws(CatalogError) -> Result) throws(CatalogError) -> Result {
        let path = Self.lockFile(in: folder).path
        let handle = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard handle >= 0 else {
            let number = errno
            throw try CatalogError.naming { () throws(StorageError) in
                throw StorageError.system(number, action: "open", path: path)
            }
        }
        defer { close(handle) }
        while flock(handle, LOCK_EX) != 0 {
            let number = errno
            guard number == EINTR else {
                throw try CatalogError.naming { () throws(StorageError) in
                    throw StorageError.system(number, action: "lock", path: path)
                }
            }
        }
        try checkMayChange()
        return try body()
    }
}
