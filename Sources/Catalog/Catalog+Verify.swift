internal import Foundation
internal import Shards
internal import Tiles

/// What a check of a catalog found.
public struct CatalogReport: Sendable, Codable {
    /// Packages in the list.
    public internal(set) var packages = 0
    /// Bytes of their files that were read.
    public internal(set) var bytes: UInt64 = 0
    /// Everything that is wrong, in the order of the list.
    public internal(set) var problems: [Problem] = []
    /// Whether nothing is wrong.
    public var isSound: Bool { problems.isEmpty }

    /// One thing that is wrong.
    public struct Problem: Sendable, Codable, Hashable, CustomStringConvertible {
        /// A stable kebab-case word for the kind of problem.
        public let code: String
        /// The package's id.
        public let id: String
        /// What was found and what was expected.
        public let message: String
        /// All of it in one line.
        public var description: String { "\(id): \(message) [\(code)]" }
    }
}

extension Catalog {
    /// Reads and hashes every listed file and checks every entry.
    ///
    /// Blocks for the time of reading them all.
    ///
    /// - Throws: `catalog-corrupt`, `io` when the list itself cannot be read; everything else is a problem in the report.
    public func verify() throws(CatalogError) -> CatalogReport {
        var report = CatalogReport()
        for edition in try editions() {
            for entry in try list(edition).packages {
                report.packages += 1
                try check(entry, edition, &report)
            }
        }
        return report
    }

    private func check(
        _ entry: CatalogEntry, _ edition: CatalogEdition, _ report: inout CatalogReport
    ) throws(CatalogError) {
        let id = edition.path + entry.id
        func add(_ code: String, _ message: String) {
            report.problems.append(.init(code: code, id: id, message: message))
        }
        do throws(TilesError) { _ = try TileMask(cartoText: entry.tileMask) } catch {
            add("bad-mask", "its tile_mask cannot be read: \(error)")
        }
        if entry.version < 1 { add("bad-version", "version \(entry.version) is not positive") }
        for listed in entry.allFiles {
            let path = entry.path(listed.fileExtension)
            if !listed.url.contains("://") || !listed.url.hasSuffix("/" + edition.path + path) {
                add("bad-url", "'\(listed.url)' is not the absolute address of '\(edition.path)\(path)'")
            }
            let file = place(path, edition)
            guard let size = try fileSize(file) else {
                add("missing-file", "'\(file.path)' is not there")
                continue
            }
            if size != UInt64(max(0, listed.size)) {
                add("wrong-size", "'\(file.path)' has \(size) bytes, the list says \(listed.size)")
            }
            do throws(ShardsError) {
                let (digest, read) = try Digest.ofFile(file)
                report.bytes += read
                if digest.hex != listed.sha256 {
                    add("wrong-digest", "the SHA-256 of '\(file.path)' is \(digest), the list says \(listed.sha256)")
                }
            } catch {
                add("unreadable", error.message)
            }
        }
    }
}
