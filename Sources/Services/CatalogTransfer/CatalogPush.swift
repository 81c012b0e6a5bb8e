import Catalog
package import CatalogFormat
internal import Digests
import Errors
import Files
package import Foundation
import S3
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

    package struct Page: Equatable {
        package let path: String
        package let bytes: [UInt8]
    }

    package let source: CatalogSource
    package let folder: URL
    package let target: any PushTarget
    package var address: Address?

    /// The list of files that an unfinished push has sent.
    ///
    /// S3 does not report the SHA-256 of its objects.
    private static let journal = "push.json"

    package init(source: CatalogSource, folder: URL, target: any PushTarget, address: Address? = nil) {
        self.source = source
        self.folder = folder
        self.target = target
        self.address = address
    }

    /// Sends files, then lists, then the signature, then `catalog.json`.
    ///
    /// - Parameters:
    ///   - prune: Whether objects of packages and patches that the catalog does not name are removed at the end.
    ///   - showStep: Called before each step.
    /// - Throws: ``CatalogTransferError`` `bad-catalog` when the local catalog contradicts itself, or when the bucket has other bytes under a
    ///   name that never changes; `S3Error`.
    package func run(dryRun: Bool, prune: Bool, _ showStep: @Sendable (Step) -> Void) async throws -> Report {
        guard let document = try await CatalogDocument.read(source, key: nil) else {
            throw source.place.missingIndex
        }
        var lists = CatalogLists(source)
        try await lists.read(document.index)
        let snapshot = try await snapshot(document, lists.documents)
        let documents = try await addressed(snapshot, document)
        guard lists.problems.isEmpty else {
            throw CatalogTransferError(
                .badCatalog,
                "catalog '\(source.name)' cannot be published: \(Units.count(lists.problems.count, of: "problem"))",
                details: EqualCauses.lines(lists.problems),
                hint: "packhorse catalog verify '\(source.name)'")
        }
        let files = lists.files.values.sorted { $0.path < $1.path }
        let there = try await target.objects()
        let known = try await remote()
        try refuseOtherBytes(files, known)
        func isThere(_ file: CatalogLists.File) -> Bool {
            there[file.path] == file.size && known[file.path] == file.sha256.hex
        }
        let missing = files.filter { !isThere($0) }
        let all = (files: missing.count, bytes: missing.reduce(0) { $0 + $1.size })
        var report = Report()
        // An address that is given explicitly gets no warning.
        report.warnings = address == nil ? CatalogAddress.warnings(ofPushed: lists.bases) : []
        var sent = Journal(target: target, name: Self.journal, isOff: dryRun)
        do {
            for file in files {
                try Task.checkCancellation()
                if isThere(file) {
                    report.skipped += 1
                    sent.addWithoutSaving(file.path, file.sha256.hex)
                    continue
                }
                let step = Step(
                    line: "\(file.path)  \(Units.bytes(file.size))", files: (report.sent.count, all.files),
                    bytes: (report.bytes, all.bytes))
                report.sent.append(file.path)
                report.bytes += file.size
                guard !dryRun else { continue }
                showStep(step)
                try await send(file)
                try await sent.add(file.path, file.sha256.hex, bytes: file.size)
            }
            try await sent.flush()
        } catch {
            // In a separate task, because this one may be cancelled. Files that are not recorded are only sent again.
            _ = await Task { [sent] in
                var unfinished = sent
                // Without the journal, the next push sends some files again; the first error is reported.
                try? await unfinished.flush()
            }.value
            throw error
        }
        let named = Set(files.map(\.path) + lists.documents)
        if prune { report.removed = there.keys.filter { Self.isFile($0) && !named.contains($0) }.sorted() }
        // The sent files must match these documents, not documents that a coordinator has written in the meantime.
        guard try await self.snapshot(document, lists.documents) == snapshot else {
            throw CatalogTransferError(.changed, "catalog '\(source.name)' changed while it was sent; push it again")
        }
        for page in documents {
            report.sent.append(page.path)
            report.bytes += UInt64(page.bytes.count)
            if !dryRun { try await target.put(page.path, bytes: page.bytes) }
        }
        guard !dryRun else { return report }
        try await target.remove(Self.journal)
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

    /// SHA-256 of the files that the bucket's own catalog names, and of those that an unfinished push sent.
    private func remote() async throws -> [String: String] {
        var known: [String: String] = [:]
        if let bytes = try await target.read(CatalogIndex.fileName) {
            let index = try CatalogIndex(decoding: bytes)
            for style in index.styles ?? [] { known[style.url] = style.sha256 }
            for package in index.packages {
                // The packs of an unreadable list are not known: they are sent again.
                guard let list = package.tilePacks, let bytes = try await target.read(list.url),
                    // An unreadable list is sent again.
                    let packs = try? TilePackList(decoding: bytes, named: list.url).packs
                else { continue }
                for pack in packs { known[package.edition + pack.path] = pack.sha256 }
            }
            for version in index.packages.flatMap(\.versions) {
                for file in version.files { known[file.url] = file.sha256 }
                for patch in version.patches { known[patch.url] = patch.sha256 }
            }
        }
        // If the journal cannot be read, some files are sent again.
        let unfinished = try await target.read(Self.journal).flatMap {
            // If the journal cannot be decoded, some files are sent again.
            try? JSONDecoder().decode([String: String].self, from: Data($0))
        }
        return known.merging(unfinished ?? [:]) { published, _ in published }
    }

    private func refuseOtherBytes(_ files: [CatalogLists.File], _ known: [String: String]) throws {
        let other = files.filter { file in known[file.path].map { $0 != file.sha256.hex } ?? false }
        guard let first = other.first else { return }
        throw CatalogTransferError(
            .otherCatalog,
            "'\(target.name)' holds another catalog: \(Units.count(other.count, of: "file")) there, such as '\(first.path)', "
                + "has other bytes under a name that never changes",
            hint: "publish to another prefix, or delete the objects of this one first")
    }

    private func send(_ file: CatalogLists.File) async throws {
        let local = folder.appending(path: file.path)
        let (digest, size) = try await FileWork.run { try Digest.ofFile(local) }
        guard digest == file.sha256, size == file.size else {
            throw CatalogTransferError(
                .badCatalog,
                "'\(local.path)' is not the file that the catalog names; nothing of this catalog is visible yet",
                hint: "packhorse catalog verify '\(folder.path)'")
        }
        try await target.put(file.path, file: local, size: size, sha256: digest)
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

    /// The list of sent files, stored in the target during a push.
    private struct Journal: Sendable {
        let target: any PushTarget
        let name: String
        let isOff: Bool
        private var entries: [String: String] = [:]
        private var unsaved: (files: Int, bytes: UInt64) = (0, 0)

        init(target: any PushTarget, name: String, isOff: Bool) {
            self.target = target
            self.name = name
            self.isOff = isOff
        }

        mutating func addWithoutSaving(_ path: String, _ sha256: String) { entries[path] = sha256 }

        /// Records a file.
        ///
        /// Writes the list after 16 files or 32 MiB.
        mutating func add(_ path: String, _ sha256: String, bytes: UInt64) async throws {
            entries[path] = sha256
            unsaved = (unsaved.files + 1, unsaved.bytes + bytes)
            if unsaved.files >= 16 || unsaved.bytes >= 32 << 20 { try await flush() }
        }

        mutating func flush() async throws {
            guard !isOff, unsaved.files > 0 else { return }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            try await target.put(name, bytes: Array(try encoder.encode(entries)))
            unsaved = (0, 0)
        }
    }
}
