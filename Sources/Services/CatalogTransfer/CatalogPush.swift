import Catalog
package import CatalogFormat
internal import Digests
import Errors
package import Foundation
internal import ObjectStore
internal import TextFormats

/// Copies a catalog into a bucket or folder so that readers always find a complete one.
package struct CatalogPush: Sendable {
    /// What was sent, or would be sent.
    package struct Report: Encodable {
        /// Paths of files and lists.
        package var sent: [String] = []
        /// Bytes of those.
        package var bytes: UInt64 = 0
        /// Number of files that the target already had.
        package var skipped = 0
        /// Objects that are in no list any more.
        package var removed: [String] = []
        /// Possible problems.
        package var warnings: [String] = []
    }

    /// Another address for the files in `packages.json` than that of the catalog.
    package struct Address: Sendable {
        /// Absolute, ending in a slash.
        package let url: String
        /// Signs `catalog.json`, which contains the digests of the lists; `nil` for an unsigned catalog.
        package let key: CatalogSecretKey?

        package init(url: String, key: CatalogSecretKey? = nil) {
            self.url = url
            self.key = key
        }
    }

    /// The next step and the progress of the push.
    package struct Step: Sendable {
        /// The action and its file, for a log.
        package let line: String
        /// Files and bytes sent before this step, and those of the whole push.
        package let files: (done: Int, all: Int)
        package let bytes: (done: UInt64, all: UInt64)

    }

    /// A document of the catalog.
    package struct Page: Equatable {
        package let path: String
        package let bytes: [UInt8]
    }

    package let source: CatalogSource
    package let folder: URL
    package let target: any PushTarget
    package var address: Address?
    /// Whether the target may hold another catalog, which this one takes the place of.
    package var replaces = false

    package init(
        source: CatalogSource, folder: URL, target: any PushTarget, address: Address? = nil, replaces: Bool = false
    ) {
        self.source = source
        self.folder = folder
        self.target = target
        self.address = address
        self.replaces = replaces
    }

    /// Sends files, then lists, then the signature, then `catalog.json`.
    ///
    /// What the target already has is not sent. Lists are put only over those that were read at the beginning, as far as the
    /// target compares them.
    ///
    /// - Parameters:
    ///   - prune: Whether objects of packages and patches that the catalog does not name are removed at the end.
    ///   - showStep: Called before each step.
    /// - Throws: ``CatalogTransferError`` `bad-catalog` when the local catalog contradicts itself; `other-catalog` when the target
    ///   has another one; `pushed-by-another` when another publisher has replaced lists since they were read; `S3Error`.
    package func run(dryRun: Bool, prune: Bool, _ showStep: @Sendable (Step) -> Void) async throws -> Report {
        guard let document = try await CatalogDocument.read(source, key: nil) else {
            throw source.place.missingIndex
        }
        var lists = CatalogLists(source)
        try await lists.read(document.index)
        let snapshot = try await snapshot(document, lists.documents)
        let addressed = try await addressed(snapshot, document)
        guard lists.problems.isEmpty else {
            throw CatalogTransferError(
                .badCatalog,
                "catalog '\(source.name)' cannot be published: \(Units.count(lists.problems.count, of: "problem"))",
                details: EqualCauses.lines(lists.problems),
                hint: "packhorse catalog verify '\(source.name)'")
        }
        let files = lists.files.values.sorted { $0.path < $1.path }
        let there = try await PushedCatalog(target, reading: addressed.map(\.path), replacing: replaces)
        let pages = try keepingSignature(addressed, there)
        if !replaces { try await refuseAnother(there, files: files, index: document.index, pages: pages) }
        let changes = pages.filter { there.documents[$0.path]?.bytes != $0.bytes }
        let missing = files.filter { !there.has($0) }
        let isNeeded = !dryRun && !(changes.isEmpty && missing.isEmpty)
        let comparisons = isNeeded ? try await target.comparisons() : .none
        var report = Report()
        report.skipped = files.count - missing.count
        // An address that is given explicitly gets no warning.
        report.warnings = address == nil ? CatalogAddress.warnings(ofPushed: lists.bases) : []
        if isNeeded, !comparisons.unchanged { report.warnings += [target.warningOfNoComparison].compactMap { $0 } }
        for file in missing {
            report.sent.append(file.path)
            report.bytes += file.size
        }
        let all = (files: report.sent.count, bytes: report.bytes)
        if !dryRun { try await send(missing, of: files, to: there, comparing: comparisons, showStep) }
        let named = Set(files.map(\.path) + pages.map(\.path))
        if prune { report.removed = there.objects.keys.filter { Self.isFile($0) && !named.contains($0) }.sorted() }
        // The sent files must match these documents, not documents that a coordinator has written in the meantime.
        guard try await self.snapshot(document, lists.documents) == snapshot else {
            throw CatalogTransferError(.changed, "catalog '\(source.name)' changed while it was sent; push it again")
        }
        for page in changes {
            report.sent.append(page.path)
            report.bytes += UInt64(page.bytes.count)
        }
        guard !dryRun else { return report }
        // The signature of another catalog would be one of other bytes.
        if there.keyID != nil, !pages.contains(where: { $0.path == CatalogIndex.signatureName }) {
            try await target.remove(CatalogIndex.signatureName)
        }
        try await publish(changes, of: pages, over: there, comparisons)
        try await target.remove(PushJournal.name)
        for path in report.removed {
            showStep(Step(line: "removing \(path)", files: (all.files, all.files), bytes: (all.bytes, all.bytes)))
            try await target.remove(path)
        }
        return report
    }

    /// The documents in the order of publication; `catalog.json` is the last.
    private func snapshot(_ document: CatalogDocument, _ packs: [String]) async throws -> [Page] {
        var found: [Page] = []
        for path in packs + document.index.editions.map({ $0.path + "packages.json" })
            + (document.isSigned ? [CatalogIndex.signatureName] : []) + [CatalogIndex.fileName]
        {
            guard let bytes = try await source.read(path) else {
                throw CatalogTransferError(
                    .changed, "'\(source.name)\(path)' is missing because the catalog is being changed; push it again"
                )
            }
            found.append(Page(path: path, bytes: bytes))
        }
        return found
    }

    /// Whether a name belongs to a package, patch, tile pack, list of packs or style pack, and not to an unrelated
    /// object.
    package static func isFile(_ path: String) -> Bool {
        let parts = path.split(separator: "/").map(String.init)
        func has(_ folder: String, above count: Int) -> Bool {
            parts.count > count && parts[parts.count - 1 - count] == folder
        }
        return has("packages", above: 2) || has("patches", above: 2) || has("packs", above: 5)
            || has("regions", above: 1) && path.hasSuffix(".json") || has("styles", above: 2) && parts.count == 3
    }
}
