public import CatalogFormat
public import Digests
public import Errors
public import Foundation
internal import Tiles

/// `styles.json`: the publisher's list of style packs.
struct CatalogStyleList: Codable, Equatable {
    var styles: [CatalogIndex.Style] = []
}

extension Catalog {
    /// Puts a style pack into the catalog: `styles/<version>/<id>.zip`.
    ///
    /// The version is the last version plus one; it does not change if the bytes are the same. The list is written
    /// after the file, and `catalog.json` after the list. The file of the previous version stays until the next
    /// pruning, for clients that are downloading it.
    ///
    /// - Parameters:
    ///   - id: 1 to 32 lower-case letters, digits and hyphens.
    ///   - name: The style's name for people.
    ///   - file: The finished archive; it is not moved.
    /// - Returns: The version, and whether the catalog already had exactly these bytes.
    /// - Throws: `bad-request`, `bad-file`, `signing-key`, `catalog-corrupt`, `disk-full`, `io`.
    @discardableResult
    public func publish(
        style id: String, name: String?, file: URL, digest: Digest, size: UInt64
    ) throws(CatalogError) -> (version: Int32, unchanged: Bool) {
        guard CatalogEdition.isWord(id) else {
            throw CatalogError(
                .badRequest,
                "'\(id.prefix(40))' cannot name a style: use 1 to 32 lower-case letters, digits and hyphens.")
        }
        guard !VisibleText.hasControl(name ?? "") else {
            throw CatalogError(.badRequest, "The name of style '\(id)' has control characters; a name is plain text.")
        }
        guard let bytes = Int64(exactly: size) else { throw CatalogError(.badRequest, "Style '\(id)' is too large.") }
        try checkMaySign()
        return try locked { () throws(CatalogError) in
            var list = try styleList()
            let previous = list.styles.first { $0.id == id }
            let isSame = previous?.sha256 == digest.hex
            let version = isSame ? previous?.version ?? 1 : (previous?.version ?? 0) + 1
            let style = CatalogIndex.Style(
                id: id, name: name, version: version, url: "styles/\(version)/\(id).zip", size: bytes,
                sha256: digest.hex)
            let target = place(style.url, .main)
            let held = try fileSize(target)
            let isThere = isSame && held == size
            if !isThere {
                // No list names this file yet, or its bytes are damaged: an existing file there is not in use.
                let published = PublishFile(format: "zip", fileExtension: ".zip", url: file, digest: digest, size: size)
                try replace(target, with: published, of: id)
            }
            if previous != style {
                list.styles.removeAll { $0.id == id }
                list.styles.append(style)
                list.styles.sort { $0.id < $1.id }
                try write(list, to: place(Self.styleListName, .main))
                try refreshIndex()
            }
            return (version, isSame && isThere)
        }
    }

    private static let styleListName = "styles.json"

    /// The style packs of the catalog; empty in a catalog of an earlier build.
    func styleList() throws(CatalogError) -> CatalogStyleList {
        let url = place(Self.styleListName, .main)
        guard let bytes = try Self.bytes(url) else { return CatalogStyleList() }
        do { return try JSONDecoder().decode(CatalogStyleList.self, from: Data(bytes)) } catch {
            throw CatalogError(
                .corrupt,
                "'\(url.path)' is not a list of styles; it was not changed. Restore it from a backup, or remove it.",
                cause: error)
        }
    }

    /// Paths of style pack files that the list does not name.
    func uselessStyles() throws(CatalogError) -> [String] {
        let named = Set(try styleList().styles.map(\.url))
        return try Self.folders("styles", in: folder).flatMap { version in
            // A folder that cannot be listed is kept with all its files.
            ((try? FileManager.default.contentsOfDirectory(atPath: place("styles/\(version)", .main).path)) ?? [])
                .map { "styles/\(version)/\($0)" }
        }.filter { !named.contains($0) }.sorted()
    }
}
