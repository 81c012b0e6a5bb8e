public import CatalogFormat
public import Errors
internal import Files
internal import Foundation

/// What a catalog needs to know about a list of tile packs, `regions/<id>.json`: which files it names.
public struct CatalogPackList: Sendable, Hashable, Decodable {
    /// One pack.
    public struct Pack: Sendable, Hashable, Decodable {
        /// Where the file is, relative to the list: `../packs/…`.
        public let url: String
        /// Exact bytes.
        public let size: Int64
        /// SHA-256, 64 lower-case hexadecimal digits.
        public let sha256: String

        /// Where the file lies in its edition's folder; may lead out of it in a list from an untrusted source.
        public var path: String { url.hasPrefix("../") ? String(url.dropFirst(3)) : "regions/" + url }
    }

    /// The packs in the list's order.
    public let packs: [Pack]

    /// Where the list of a package lies in its edition's folder.
    public static func path(_ id: String) -> String { "regions/\(id).json" }

    /// Reads a list from an untrusted source.
    ///
    /// The paths of its packs stay inside their edition and below `packs/`; sizes and digests are not checked.
    /// - Throws: `catalog-corrupt` naming the list.
    public init(decoding bytes: [UInt8], named name: String) throws(CatalogError) {
        let value: CatalogPackList
        do { value = try JSONDecoder().decode(CatalogPackList.self, from: Data(bytes)) } catch {
            throw CatalogError(.corrupt, "'\(name)' is not a list of tile packs.", cause: error)
        }
        if let pack = value.packs.first(where: { !$0.path.hasPrefix("packs/") || !CatalogIndex.isInside($0.path) }) {
            throw CatalogError(.corrupt, "'\(name)': '\(pack.url.prefix(200))' leads out of the catalog's packs.")
        }
        self = value
    }
}

extension Catalog {
    /// Writes or removes a package's list of packs; returns whether anything changed.
    func write(packList: [UInt8]?, of id: String, _ edition: CatalogEdition) throws(CatalogError) -> Bool {
        let url = place(CatalogPackList.path(id), edition)
        let held = try Self.bytes(url)
        guard held != packList else { return false }
        try CatalogError.naming { () throws(StorageError) in
            guard let packList else { return try Durable.remove(url) }
            try Durable.makeFolder(url.deletingLastPathComponent())
            try Durable.write(packList, to: url)
        }
        return true
    }

    /// Paths of packs and lists of packs that no package of an edition uses.
    ///
    /// - Throws: `catalog-corrupt` for a list that cannot be read, because its packs are then unknown.
    func uselessPacks(_ list: CatalogList, _ edition: CatalogEdition) throws(CatalogError) -> [String] {
        var named: Set<String> = []
        for entry in list.packages {
            let path = CatalogPackList.path(entry.id)
            guard let bytes = try Self.bytes(place(path, edition)) else { continue }
            named.insert(path)
            named.formUnion(try CatalogPackList(decoding: bytes, named: edition.path + path).packs.map(\.path))
        }
        var useless: [String] = []
        for top in ["packs", "regions"] {
            let home = place(top, edition)
            guard let walk = FileManager.default.enumerator(atPath: home.path) else { continue }
            while let inside = walk.nextObject() as? String {
                let path = "\(top)/\(inside)"
                guard walk.fileAttributes?[.type] as? FileAttributeType == .typeRegular, !named.contains(path) else {
                    continue
                }
                // A recent temporary file belongs to a process that is building packs now.
                let isTemporary = (inside.split(separator: "/").last ?? "").hasPrefix(".")
                if !isTemporary || Self.isOld(place(path, edition)) { useless.append(path) }
            }
        }
        return useless.sorted()
    }
}
