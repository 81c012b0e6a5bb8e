internal import CatalogFormat
internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import NIOCore

/// A catalog at one moment: its documents in memory, and what they name.
///
/// The documents of one snapshot belong together: each list has the digest that `catalog.json` states.
final class CatalogSnapshot: Sendable {
    /// The folder that it was read from.
    let folder: CatalogFolder
    let index: CatalogIndex
    /// Documents by their path below the catalog.
    let documents: [String: ServedDocument]
    /// Files by their path below the catalog.
    let files: [String: ServedFile]
    let maps: MapIndex
    /// `/catalog.html`.
    let page: ServedDocument
    /// Of `catalog.json`.
    let digest: Digest
    /// Seconds since 1970.
    let readAt = Date().timeIntervalSince1970

    /// Reads a catalog; blocks.
    ///
    /// - Parameter earlier: Documents that did not change are taken from it.
    /// - Throws: ``GatewayError`` `catalog-damaged` when documents do not belong together, as they do for a moment while
    ///   the catalog is being published; `catalog-missing`, `unreadable`.
    init(_ folder: CatalogFolder, earlier: CatalogSnapshot? = nil) throws(GatewayError) {
        let bytes = try folder.file(CatalogIndex.fileName).contents(upTo: CatalogIndex.maxBytes)
        let index: CatalogIndex
        do { index = try CatalogIndex(decoding: bytes) } catch {
            throw GatewayError(.catalogDamaged, error.message, cause: error)
        }
        var documents = [CatalogIndex.fileName: Self.document(bytes, at: CatalogIndex.fileName, unlessIn: earlier)]
        if let signature = try Self.signature(folder, of: bytes) {
            let name = CatalogIndex.signatureName
            documents[name] = Self.document(signature, at: name, unlessIn: earlier)
        }
        var files: [String: ServedFile] = [:]
        func add(_ file: ServedFile?) { if let file { files[file.path] = file } }
        for edition in index.editions {
            documents[edition.list.url] = try Self.document(edition.list, in: folder, unlessIn: earlier)
        }
        for package in index.packages {
            for version in package.versions {
                for file in version.files {
                    let links = Self.links(file, of: version, package)
                    add(ServedFile(path: file.url, size: file.size, sha256: file.sha256, links: links))
                }
                for patch in version.patches {
                    add(ServedFile(path: patch.url, size: patch.size, sha256: patch.sha256))
                }
            }
            guard let list = package.tilePacks else { continue }
            let document = try Self.document(list, in: folder, unlessIn: earlier)
            documents[list.url] = document
            for pack in try Self.packs(Array(buffer: document.plain), at: list.url, edition: package.edition) {
                add(pack)
            }
        }
        for style in index.styles ?? [] { add(ServedFile(path: style.url, size: style.size, sha256: style.sha256)) }
        self.folder = folder
        self.index = index
        self.documents = documents
        self.files = files
        maps = MapIndex(index)
        page = ServedDocument(CatalogPage.html(index), mediaType: "text/html; charset=utf-8")
        digest = Digest(of: bytes)
    }

    private static func document(
        _ bytes: [UInt8], at path: String, unlessIn earlier: CatalogSnapshot?
    ) -> ServedDocument {
        if let known = earlier?.documents[path], known.digest == Digest(of: bytes) { return known }
        return ServedDocument(bytes)
    }

    /// A list with the size and digest that `catalog.json` states.
    private static func document(
        _ list: CatalogIndex.List, in folder: CatalogFolder, unlessIn earlier: CatalogSnapshot?
    ) throws(GatewayError) -> ServedDocument {
        if let known = earlier?.documents[list.url], known.digest.hex == list.sha256 { return known }
        let bytes = try folder.file(list.url).contents(upTo: TilePackList.maxBytes)
        let digest = Digest(of: bytes)
        guard Int64(bytes.count) == list.size, digest.hex == list.sha256 else {
            throw GatewayError(
                .catalogDamaged,
                "'\(list.url)' is not the list that catalog.json names: it has SHA-256 \(digest) instead of \(list.sha256).",
                hint: "the catalog is being changed now; if it stays so, run 'packhorse catalog verify'")
        }
        return ServedDocument(bytes)
    }

    /// The signature file; `nil` for a catalog that is not signed.
    private static func signature(_ folder: CatalogFolder, of bytes: [UInt8]) throws(GatewayError) -> [UInt8]? {
        let signature: [UInt8]
        do throws(GatewayError) {
            signature = try folder.file(CatalogIndex.signatureName).contents(upTo: 1 << 16)
        } catch {
            guard error.code == .catalogMissing else { throw error }
            return nil
        }
        do throws(CatalogError) {
            guard try CatalogSignature(decoding: signature).names(bytes) else {
                throw CatalogError(.badSignature, "'catalog.json.sig' has no signature of this catalog.json.")
            }
        } catch { throw GatewayError(.catalogDamaged, error.message, cause: error) }
        return signature
    }

    private static func links(
        _ file: CatalogIndex.File, of version: CatalogIndex.Version, _ package: CatalogIndex.Package
    ) -> String {
        let latest = package.versions.first?.file(file.format)
        // There is no TileJSON of a file that is no map.
        guard version.companion == nil else { return latest.map { "</\($0.url)>; rel=\"latest-version\"" } ?? "" }
        let query = package.edition.isEmpty ? "" : "?edition=\(package.edition)"
        let about = "</tiles/\(package.id)@\(version.version).json\(query)>; rel=\"describedby\""
        guard let newest = latest else { return about }
        return "</\(newest.url)>; rel=\"latest-version\", \(about)"
    }

    private static func packs(_ bytes: [UInt8], at path: String, edition: String) throws(GatewayError) -> [ServedFile] {
        let list: TilePackList
        do { list = try TilePackList(decoding: bytes, named: path) } catch {
            throw GatewayError(.catalogDamaged, error.message, cause: error)
        }
        return list.packs.compactMap { pack in
            ServedFile(path: edition + pack.path, size: Int64(clamping: pack.size), sha256: pack.sha256)
        }
    }
}
