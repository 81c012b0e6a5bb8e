internal import CatalogFormat
internal import Errors
internal import Foundation
internal import Synchronization

/// The lists that a ``Catalog`` caches between operations, so that publishing one package does not read and encode all
/// others again.
///
/// Other processes and people change the same folder. So a cached list is used only after its file was compared
/// (``KnownDocument/ifCurrent(at:)``), and encoded elements only for equal sources (``EncodedRows``).
final class CatalogCache: Sendable {
    /// The values in `catalog.json` about a package.
    struct IndexSource: Equatable, Sendable {
        let edition: CatalogEdition
        let entry: CatalogEntry
        /// Earlier versions, newest first.
        let older: [CatalogEntry]
        let packs: CatalogIndex.List?
        /// The node that the package covers.
        var region: String?
    }

    /// Encoded elements; used by one thread at a time, under the catalog's lock.
    struct Rows: Sendable {
        var lists: [CatalogEdition: EncodedRows<String, CatalogEntry>] = [:]
        var histories: [CatalogEdition: EncodedRows<CatalogHistory.Key, CatalogEntry>] = [:]
        var index: [CatalogEdition: EncodedRows<String, IndexSource>] = [:]
        var tree = EncodedRows<String, CatalogIndex.Node>()

        /// Elements that were encoded since the beginning.
        var encodings: Int {
            lists.values.reduce(0) { $0 + $1.encodings } + histories.values.reduce(0) { $0 + $1.encodings }
                + index.values.reduce(0) { $0 + $1.encodings } + tree.encodings
        }
    }

    /// The lists of tile packs in an edition's folder.
    private struct PackLists: Sendable {
        var folder: KnownFile?
        var names: Set<String> = []
        var lists: [String: KnownDocument<CatalogIndex.List>] = [:]
    }

    private struct State: Sendable {
        var lists: [CatalogEdition: KnownDocument<KnownList>] = [:]
        var histories: [CatalogEdition: KnownDocument<CatalogHistory>] = [:]
        var packs: [CatalogEdition: PackLists] = [:]
        var rows = Rows()
        var nodes: (regions: Set<String>, imported: [String: CatalogIndex.Node], nodes: [CatalogIndex.Node])?
        var decodings = 0
        var listCost: Duration?
    }
    private let state = Mutex(State())

    /// Lists that were read and decoded, since the beginning.
    var decodings: Int { state.withLock { $0.decodings } }
    /// Elements of lists that were encoded, since the beginning.
    var encodings: Int { state.withLock { $0.rows.encodings } }

    /// How long it took to write the lists of the last change.
    var listCost: Duration? {
        get { state.withLock { $0.listCost } }
        set { state.withLock { $0.listCost = newValue } }
    }

    // MARK: - Lists

    /// The list of an edition if its file did not change since it was cached.
    func list(_ edition: CatalogEdition, at url: URL) -> KnownDocument<KnownList>? {
        guard let current = state.withLock({ $0.lists[edition] })?.ifCurrent(at: url) else { return nil }
        state.withLock { if $0.lists[edition]?.isSame(as: current) == true { $0.lists[edition] = current } }
        return current
    }

    /// Caches a list that was read or written.
    func cache(_ list: KnownDocument<KnownList>, _ edition: CatalogEdition, wasRead: Bool) {
        state.withLock {
            $0.lists[edition] = list
            $0.decodings += wasRead ? 1 : 0
        }
    }

    /// The history of an edition if its file did not change since it was cached.
    func history(_ edition: CatalogEdition, at url: URL) -> CatalogHistory? {
        guard let current = state.withLock({ $0.histories[edition] })?.ifCurrent(at: url) else { return nil }
        state.withLock { if $0.histories[edition]?.isSame(as: current) == true { $0.histories[edition] = current } }
        return current.value
    }

    /// Caches a history that was read or written.
    func cache(_ history: KnownDocument<CatalogHistory>, _ edition: CatalogEdition, wasRead: Bool) {
        state.withLock {
            $0.histories[edition] = history
            $0.decodings += wasRead ? 1 : 0
        }
    }

    /// Encodes with the cached elements; a concurrent second call starts with an empty cache.
    func encoding<Result>(_ work: (inout Rows) throws(CatalogError) -> Result) throws(CatalogError) -> Result {
        var rows = state.withLock { state in
            defer { state.rows = Rows() }
            return state.rows
        }
        do throws(CatalogError) {
            let result = try work(&rows)
            state.withLock { [rows] in $0.rows = rows }
            return result
        } catch {
            state.withLock { [rows] in $0.rows = rows }
            throw error
        }
    }

    // MARK: - Tree and tile packs

    /// The nodes above these regions; the result of the last call is cached.
    func nodes(
        _ regions: Set<String>, imported: [String: CatalogIndex.Node], _ find: () -> [CatalogIndex.Node]
    ) -> [CatalogIndex.Node] {
        if let held = state.withLock({ $0.nodes }), held.regions == regions, held.imported == imported {
            return held.nodes
        }
        let nodes = find()
        state.withLock { $0.nodes = (regions, imported, nodes) }
        return nodes
    }

    /// The lists of tile packs of an edition's packages, by package; a list is read again only when its file changed.
    ///
    /// - Parameters:
    ///   - ids: The edition's packages.
    ///   - folder: The folder of the lists; it need not exist.
    ///   - describe: Makes the catalog's description of a list with these bytes.
    func packLists(
        of ids: [String], _ edition: CatalogEdition, in folder: URL,
        _ describe: (_ id: String, _ bytes: [UInt8]) -> CatalogIndex.List
    ) throws(CatalogError) -> [String: CatalogIndex.List] {
        var known = state.withLock { $0.packs[edition] } ?? PackLists()
        let before = KnownFile(path: folder.path)
        if known.folder.map({ $0.compare(path: folder.path) == .same }) != true {
            known.names = before == nil ? [] : try Self.names(in: folder)
            known.folder = before
        }
        var lists: [String: KnownDocument<CatalogIndex.List>] = [:]
        for id in known.names.isEmpty ? [] : ids where known.names.contains("\(id).json") {
            let url = folder.appendingPathComponent("\(id).json")
            if let list = known.lists[id]?.ifCurrent(at: url) {
                lists[id] = list
                continue
            }
            let file = KnownFile(path: url.path)
            guard let bytes = try Catalog.bytes(url) else { continue }
            lists[id] = KnownDocument(describe(id, bytes), bytes: bytes, file: file)
        }
        known.lists = lists
        state.withLock { [known] in $0.packs[edition] = known }
        return lists.mapValues(\.value)
    }

    private static func names(in folder: URL) throws(CatalogError) -> Set<String> {
        do { return Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)) } catch {
            throw CatalogError(.io, "Cannot read folder '\(folder.path)': \(error.localizedDescription)", cause: error)
        }
    }
}
