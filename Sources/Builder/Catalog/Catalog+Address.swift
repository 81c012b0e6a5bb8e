public import CatalogFormat
internal import Digests
public import Errors
internal import Files
internal import Foundation

extension Catalog {
    /// The base address of the files in the lists of a catalog's folder; `nil` when the lists name no file or cannot be
    /// read.
    static func listedBase(_ folder: URL) -> String? {
        // A list that cannot be read names no address; `nil` is what the caller handles.
        for edition in (try? editions(in: folder)) ?? [] {
            // The next edition may be readable.
            guard let bytes = try? Data(contentsOf: folder.appendingPathComponent(edition.path + "packages.json")),
                // The next edition may be readable.
                let list = try? JSONDecoder().decode(CatalogList.self, from: bytes),
                let base = list.packages.lazy.compactMap({ $0.base(in: edition) }).first
            else { continue }
            // An invalid address counts as missing.
            return try? checked(base: base)
        }
        return nil
    }

    /// Checks a base address for the files in lists; the result ends in a slash.
    ///
    /// - Throws: `bad-request` unless it is absolute, http or https, with a host and without user, query and fragment.
    public static func checked(base: String) throws(CatalogError) -> String {
        let parts = URLComponents(string: base)
        guard base.hasPrefix("http://") || base.hasPrefix("https://"), let host = parts?.host, !host.isEmpty,
            parts?.query == nil, parts?.fragment == nil, parts?.user == nil, !base.contains(where: \.isWhitespace)
        else {
            throw CatalogError(
                .badRequest,
                "'\(base.prefix(200))' cannot be a catalog's address. Give an absolute one such as https://maps.example.com/offline/."
            )
        }
        return base.hasSuffix("/") ? base : base + "/"
    }

    /// Whether an address leads to the machine that reads it: `localhost`, `127.0.0.0/8`, `::1`, `0.0.0.0`.
    public static func isLoopback(_ address: String) -> Bool {
        let host = (URLComponents(string: address)?.host ?? "").lowercased()
            .trimmingCharacters(in: CharacterSet(charactersIn: "[]."))
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" || host == "0.0.0.0" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && numbers[0] == 127 && !numbers.contains(nil)
    }

    /// Rewrites every list that contains an address other than ``baseURL``; the caller holds the lock and writes the
    /// index next.
    func rebaseLists() throws(CatalogError) {
        for edition in try editions() {
            let list = try list(edition)
            let base = baseURL + edition.path
            guard list.packages.contains(where: { $0.rebased(base) != $0 }) else { continue }
            try markIndexStale()
            try write(list, edition)
        }
    }
}

extension CatalogEntry {
    /// The base of the address of its main file, before the path of the edition; `nil` if the address does not end with
    /// the file's path.
    public func base(in edition: CatalogEdition) -> String? {
        let end = edition.path + path
        guard url.hasPrefix("http"), url.hasSuffix("/" + end) else { return nil }
        return String(url.dropLast(end.count))
    }
}

/// The documents of a catalog, rewritten for another base address.
public struct RebasedCatalog: Sendable {
    /// `packages.json` of each edition, by path inside the catalog.
    public private(set) var lists: [String: [UInt8]] = [:]
    /// `catalog.json`: as before, with the lengths and digests of these lists.
    public let index: [UInt8]
    /// `catalog.json.sig`; `nil` without a key.
    public let signature: [UInt8]?

    /// Makes the documents in memory; writes no file.
    ///
    /// - Parameters:
    ///   - index: The catalog's `catalog.json`.
    ///   - lists: `packages.json` of each of its editions, by path inside the catalog.
    ///   - base: The new address; see ``Catalog/checked(base:)``.
    ///   - key: Signs the new `catalog.json`; `nil` leaves it unsigned.
    ///   - replaced: The signature file that the new one replaces; its newest signature is kept for clients that read
    ///     during the replacement.
    /// - Throws: `bad-request` for the address; `catalog-corrupt`; `bad-key`.
    public init(
        _ index: CatalogIndex, lists: [String: [UInt8]], to base: String, signedWith key: CatalogSecretKey?,
        replacing replaced: [UInt8]?
    ) throws(CatalogError) {
        let base = try Catalog.checked(base: base)
        var index = index
        for number in index.editions.indices {
            let edition = index.editions[number]
            guard let bytes = lists[edition.list.url] else {
                throw CatalogError(.corrupt, "'\(edition.list.url)' is missing: 'catalog.json' names it.")
            }
            var list: CatalogList
            do { list = try JSONDecoder().decode(CatalogList.self, from: Data(bytes)) } catch {
                throw CatalogError(.corrupt, "'\(edition.list.url)' is not a list of this format.", cause: error)
            }
            list.packages = list.packages.map { $0.rebased(base + edition.path) }
            let new = try CatalogJSON.encode(list, named: edition.list.url)
            self.lists[edition.list.url] = new
            index.editions[number].list.size = Int64(new.count)
            index.editions[number].list.sha256 = Digest(of: new).hex
        }
        let document = try index.encoded()
        self.index = document
        guard let key else {
            signature = nil
            return
        }
        // An unreadable signature file is replaced: no reader can use it.
        let earlier = replaced.flatMap { try? CatalogSignature(decoding: $0) }
        signature = try CatalogJSON.encode(
            CatalogSignature(signing: document, Digest(of: document), with: key, earlier: earlier),
            named: CatalogIndex.signatureName)
    }
}
