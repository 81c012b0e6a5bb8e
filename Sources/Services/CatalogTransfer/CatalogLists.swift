import Catalog
package import CatalogFormat
package import Digests
import Errors
internal import Files
import Foundation
internal import TextFormats

/// The files and packages that a catalog's documents name, and contradictions between the documents.
package struct CatalogLists {
    /// A file that clients may fetch.
    package struct File: Sendable {
        package let path: String
        package let size: UInt64
        package let sha256: Digest
        /// `patch` for a patch, `tile-pack`, `style-pack`.
        package let format: String
        package let mask: String
    }

    package let source: CatalogSource
    /// Every file once, by path.
    package var files: [String: File] = [:]
    /// Lists of tile packs, by path.
    package var documents: [String] = []
    /// The addresses at which the lists of packages name their files.
    package var bases: Set<String> = []
    /// Number of packages in the lists.
    package var packages = 0
    package var problems: [String] = []

    package init(_ source: CatalogSource) { self.source = source }

    /// Reads the list of each edition, compares it with the index, and collects the files of both.
    package mutating func read(_ index: CatalogIndex?) async throws {
        var editions = try index?.editions.map { try CatalogEdition(group: $0.group, language: $0.language) } ?? []
        let onDisk = try source.folder.map { try Catalog.editions(in: $0) } ?? [.main]
        for edition in onDisk where !editions.contains(edition) {
            editions.append(edition)
            if index != nil { problems.append("catalog.json: edition '\(edition)' is missing [index-differs]") }
        }
        for edition in editions.sorted() { try await read(edition, index) }
        for package in index?.packages ?? [] {
            if let list = package.tilePacks { try await read(list, in: package.edition) }
            for version in package.versions {
                for file in version.files {
                    add(file.url, size: file.size, sha256: file.sha256, format: file.format, mask: version.tileMask)
                }
                for patch in version.patches {
                    add(patch.url, size: patch.size, sha256: patch.sha256, format: "patch", mask: "")
                }
            }
        }
        for style in index?.styles ?? [] {
            add(style.url, size: style.size, sha256: style.sha256, format: "style-pack", mask: "")
        }
    }

    private mutating func read(_ edition: CatalogEdition, _ index: CatalogIndex?) async throws {
        let path = edition.path + "packages.json"
        guard let bytes = try await source.read(path) else {
            problems.append("\(path): missing [missing-file]")
            return
        }
        if let listed = index?.editions.first(where: { $0.path == edition.path })?.list {
            let digest = Digest(of: bytes).hex
            if digest != listed.sha256 {
                problems.append("\(path): its SHA-256 is \(digest), catalog.json says \(listed.sha256) [wrong-digest]")
            }
        }
        let entries: [CatalogEntry]
        do { entries = try Catalog.entries(decoding: bytes, named: path) } catch {
            problems.append("\(path): \(Sentence.inner(error.message)) [\(error.code)]")
            return
        }
        packages += entries.count
        for entry in entries {
            problems += entry.problems(in: edition).map(\.description)
            if let base = entry.base(in: edition) { bases.insert(base) }
            let version = entry.version(in: edition)
            if let index, index.package(entry.id, in: edition)?.versions.first != version {
                problems.append(
                    "\(edition.path)\(entry.id): catalog.json and packages.json contradict each other [index-differs]")
            }
            for file in version.files {
                add(file.url, size: file.size, sha256: file.sha256, format: file.format, mask: version.tileMask)
            }
            for patch in version.patches {
                add(patch.url, size: patch.size, sha256: patch.sha256, format: "patch", mask: "")
            }
        }
        let listed = Set(entries.map(\.id))
        for package in index?.packages ?? [] where package.edition == edition.path && !listed.contains(package.id) {
            problems.append("\(edition.path)\(package.id): catalog.json has it, packages.json does not [index-differs]")
        }
    }

    /// Reads the list of a package's tile packs.
    ///
    /// Many packages list the same packs.
    private mutating func read(_ list: CatalogIndex.List, in edition: String) async throws {
        guard let bytes = try await source.read(list.url) else {
            problems.append("\(list.url): missing [missing-file]")
            return
        }
        let digest = Digest(of: bytes).hex
        guard digest == list.sha256 else {
            problems.append("\(list.url): its SHA-256 is \(digest), catalog.json says \(list.sha256) [wrong-digest]")
            return
        }
        let packs: TilePackList
        do { packs = try TilePackList(decoding: bytes, named: list.url) } catch {
            problems.append("\(list.url): \(Sentence.inner(error.message)) [bad-list]")
            return
        }
        documents.append(list.url)
        for pack in packs.packs {
            add(
                edition + pack.path, size: Int64(clamping: pack.size), sha256: pack.sha256, format: "tile-pack",
                mask: "")
        }
    }

    private mutating func add(_ path: String, size: Int64, sha256: String, format: String, mask: String) {
        guard let bytes = UInt64(exactly: size), let digest = Digest(hex: sha256) else {
            problems.append("\(path): its size \(size) or SHA-256 '\(sha256.prefix(70))' is invalid [bad-entry]")
            return
        }
        if let known = files[path], known.size != bytes || known.sha256 != digest {
            problems.append("\(path): two lists give it different sizes or digests [index-differs]")
        }
        files[path] = File(path: path, size: bytes, sha256: digest, format: format, mask: mask)
    }
}
