internal import CatalogFormat
internal import Errors
internal import Files
internal import Foundation

extension Catalog {
    /// Writes or removes a package's list of packs; returns whether anything changed.
    func write(packList: [UInt8]?, of id: String, _ edition: CatalogEdition) throws(CatalogError) -> Bool {
        let url = place(TilePackList.path(id), edition)
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
            let path = TilePackList.path(entry.id)
            guard let bytes = try Self.bytes(place(path, edition)) else { continue }
            named.insert(path)
            named.formUnion(try TilePackList(decoding: bytes, named: edition.path + path).packs.map(\.path))
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
