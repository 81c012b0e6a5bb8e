public import CatalogFormat
internal import Digests
public import Errors
internal import Files
internal import Foundation
internal import Tiles

/// What a check of a catalog found.
public struct CatalogReport: Sendable, Codable {
    /// Packages in the list.
    public internal(set) var packages = 0
    /// Bytes of their files that were read.
    public internal(set) var bytes: UInt64 = 0
    /// All problems, in the order of the list.
    public internal(set) var problems: [Problem] = []
    /// Whether there are no problems.
    public var isVerified: Bool { problems.isEmpty }

    /// One problem.
    public struct Problem: Sendable, Codable, Hashable, CustomStringConvertible {
        /// A stable kebab-case word for the kind of problem.
        public let code: String
        /// The package's id.
        public let id: String
        /// The found and the expected value.
        public let message: String
        /// The whole problem in one line.
        public var description: String { "\(id): \(message) [\(code)]" }
    }
}

extension Catalog {
    /// Reads and hashes every listed file and checks every entry.
    ///
    /// Blocks while it reads all files.
    ///
    /// - Throws: `catalog-corrupt`, `io` when the list itself cannot be read; everything else is a problem in the report.
    public func verify() throws(CatalogError) -> CatalogReport {
        var report = CatalogReport()
        for edition in try editions() {
            for entry in try list(edition).packages {
                report.packages += 1
                try check(entry, in: edition, into: &report)
            }
        }
        return report
    }

    private func check(
        _ entry: CatalogEntry, in edition: CatalogEdition, into report: inout CatalogReport
    ) throws(CatalogError) {
        report.problems += entry.problems(in: edition)
        func add(_ code: String, _ message: String) {
            report.problems.append(.init(code: code, id: edition.path + entry.id, message: message))
        }
        for listed in entry.everything {
            let file = place(listed.path, edition)
            guard let size = try fileSize(file) else {
                add("missing-file", "'\(file.path)' does not exist")
                continue
            }
            if size != UInt64(max(0, listed.size)) {
                add("wrong-size", "'\(file.path)' has \(size) bytes, the list says \(listed.size)")
            }
            do throws(StorageError) {
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

extension CatalogEntry {
    /// All files that a client can download through an entry.
    var everything: [(path: String, url: String, size: Int64, sha256: String)] {
        allFiles.map { (path($0.fileExtension), $0.url, $0.size, $0.sha256) }
            + patches.map { (patchPath(from: $0.from, format: $0.format), $0.url, $0.size, $0.sha256) }
    }

    /// Problems of the entry itself, independent of the content of its files.
    public func problems(in edition: CatalogEdition) -> [CatalogReport.Problem] {
        var found: [CatalogReport.Problem] = []
        func add(_ code: String, _ message: String) {
            found.append(.init(code: code, id: edition.path + id, message: message))
        }
        for listed in everything where !listed.url.contains("://") || !listed.url.hasSuffix("/" + listed.path) {
            add("bad-url", "'\(listed.url)' is not the absolute address of '\(listed.path)'")
        }
        do throws(TilesError) { _ = try TileMask(cartoText: tileMask) } catch {
            add("bad-mask", "its tile_mask cannot be read: \(error)")
        }
        if version < 1 { add("bad-version", "version \(version) is not positive") }
        return found
    }
}
