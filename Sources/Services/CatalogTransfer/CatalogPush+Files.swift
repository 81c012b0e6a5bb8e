import Catalog
import CatalogFormat
internal import Digests
import Errors
import Files
import Foundation
internal import ObjectStore
internal import TextFormats

/// The files of a push: their names never get other bytes.
extension CatalogPush {
    /// Sends the files that the target lacks, and notes them in its journal.
    ///
    /// - Parameter files: All of the catalog.
    func send(
        _ missing: [CatalogLists.File], of files: [CatalogLists.File], to there: PushedCatalog,
        comparing comparisons: PutComparisons, _ showStep: @Sendable (Step) -> Void
    ) async throws {
        let all = (files: missing.count, bytes: missing.reduce(UInt64(0)) { $0 + $1.size })
        var done = (files: 0, bytes: UInt64(0))
        var journal = PushJournal(target)
        for file in files where there.has(file) { journal.addWithoutSaving(file.path, file.sha256.hex) }
        do {
            for file in missing {
                try Task.checkCancellation()
                showStep(
                    Step(
                        line: "\(file.path)  \(Units.bytes(file.size))", files: (done.files, all.files),
                        bytes: (done.bytes, all.bytes)))
                let isNew = comparisons.absent && !(replaces && there.objects[file.path] != nil)
                try await send(file, isNew: isNew)
                try await journal.add(file.path, file.sha256.hex, bytes: file.size)
                done = (done.files + 1, done.bytes + file.size)
            }
            try await journal.flush()
        } catch {
            // In a separate task, because this one may be cancelled. Files that are not recorded are only sent again.
            _ = await Task { [journal] in
                var unfinished = journal
                // Without the journal, the next push sends some files again; the first error is reported.
                try? await unfinished.flush()
            }.value
            throw error
        }
    }

    private func send(_ file: CatalogLists.File, isNew: Bool) async throws {
        let local = folder.appending(path: file.path)
        let (digest, size) = try await FileWork.run { try Digest.ofFile(local) }
        guard digest == file.sha256, size == file.size else {
            throw CatalogTransferError(
                .badCatalog,
                "'\(local.path)' is not the file that the catalog names; nothing of this catalog is visible yet",
                hint: "packhorse catalog verify '\(folder.path)'")
        }
        guard try await target.put(file.path, file: local, size: size, sha256: digest, isNew: isNew) else {
            throw anotherCatalog("'\(file.path)' there has other bytes, and a file never changes under its name")
        }
    }

    /// Refuses a target with a catalog that is no earlier state of this one.
    func refuseAnother(
        _ there: PushedCatalog, files: [CatalogLists.File], index own: CatalogIndex, pages: [Page]
    ) async throws {
        let other = files.filter { file in there.known[file.path].map { $0 != file.sha256.hex } ?? false }
        if let first = other.first {
            throw anotherCatalog(
                "\(Units.count(other.count, of: "file")) there, such as '\(first.path)', "
                    + "has other bytes under a name that never changes")
        }
        guard let index = there.index else { return }
        let signature = pages.first { $0.path == CatalogIndex.signatureName }
        var lineage = CatalogLineage(own, keyID: try signature.map { try CatalogSignature(decoding: $0.bytes).keyID })
        for edition in Set(index.packages.map(\.edition)).sorted() {
            guard let history = try await source.read(edition + CatalogWithdrawals.fileName) else { continue }
            lineage.addWithdrawn(in: edition, try CatalogWithdrawals(decoding: history).versions)
        }
        if let difference = lineage.difference(from: index, keyID: there.keyID) { throw anotherCatalog(difference) }
    }

    private func anotherCatalog(_ reason: String) -> CatalogTransferError {
        CatalogTransferError(
            .otherCatalog, "'\(target.name)' holds another catalog: \(reason)",
            hint: "push to another place, or take this one over: packhorse catalog push '\(folder.path)' "
                + "'\(target.name)' --replace")
    }
}
