import CatalogFormat
internal import Digests
import Errors
internal import Files
internal import ObjectStore

/// The lists of a push: they are replaced in place, so another publisher must be found (docs/decisions/0105).
extension CatalogPush {
    /// How often lists are put again that are not as this catalog names them after its publication.
    private static let repairs = 3

    /// A list that was replaced.
    private struct Replaced {
        let page: Page
        let old: StoredObject?
        let tag: String?
    }

    /// Puts the lists in their order, each over the one that was read at the beginning.
    ///
    /// - Parameter pages: All documents of the catalog.
    /// - Throws: ``CatalogTransferError`` `pushed-by-another`; then the lists that were replaced are as before, where the target
    ///   compares.
    func publish(
        _ changes: [Page], of pages: [Page], over there: PushedCatalog, _ comparisons: PutComparisons
    ) async throws {
        guard !changes.isEmpty else { return }
        // A target that does not compare is at least looked at again.
        try await refuseAnotherIndex(than: there, pages)
        var done: [Replaced] = []
        for page in changes {
            let old = there.documents[page.path]
            switch try await target.put(page.path, bytes: page.bytes, if: comparisons.condition(over: old)) {
            case .stored(let tag): done.append(Replaced(page: page, old: old, tag: tag))
            case .refused:
                // The answer to an earlier attempt may be lost, or another publisher has put the same bytes.
                guard try await target.read(page.path)?.bytes != page.bytes else { continue }
                await restore(done, comparisons)
                throw pushedByAnother(page.path)
            }
        }
        try await complete(pages, after: changes, comparing: comparisons)
    }

    private func refuseAnotherIndex(than there: PushedCatalog, _ pages: [Page]) async throws {
        let now = try await target.read(CatalogIndex.fileName)?.bytes
        guard now == there.documents[CatalogIndex.fileName]?.bytes || now == pages.last?.bytes else {
            throw pushedByAnother(CatalogIndex.fileName)
        }
    }

    /// Takes back the lists that were replaced before another publisher was found, as far as its catalog names the ones of
    /// before.
    ///
    /// An error leaves the list of this push, which names files that are there; the next push of either publisher replaces it.
    private func restore(_ done: [Replaced], _ comparisons: PutComparisons) async {
        guard comparisons.unchanged, !done.isEmpty,
            // The error that led here is reported.
            let now = try? await target.read(CatalogIndex.fileName)?.bytes, let index = try? CatalogIndex(decoding: now)
        else { return }
        let named = Set(index.editions.map(\.list.sha256) + index.packages.compactMap { $0.tilePacks?.sha256 })
        func isOf(_ bytes: [UInt8], _ path: String) -> Bool {
            guard path == CatalogIndex.signatureName else { return named.contains(Digest(of: bytes).hex) }
            // A file that is no signature is of no catalog.
            return (try? CatalogSignature(decoding: bytes).names(now)) ?? false
        }
        for list in done.reversed() {
            guard let old = list.old, let tag = list.tag, isOf(old.bytes, list.page.path),
                !isOf(list.page.bytes, list.page.path)
            else { continue }
            // The error that led here is reported.
            _ = try? await target.put(list.page.path, bytes: old.bytes, if: .unchanged(tag))
        }
    }

    /// Reads the lists back while `catalog.json` is that of this push, and puts those again that another publisher has taken
    /// back or replaced.
    private func complete(
        _ pages: [Page], after changes: [Page], comparing comparisons: PutComparisons
    ) async throws {
        let changed = Set(changes.map(\.path))
        let own = pages.dropLast().filter {
            changed.contains($0.path) || $0.path.hasSuffix("packages.json") || $0.path == CatalogIndex.signatureName
        }
        for _ in 1...Self.repairs {
            guard try await target.read(CatalogIndex.fileName)?.bytes == pages.last?.bytes else { return }
            var wrong = 0
            for page in own {
                let found = try await target.read(page.path)
                guard found?.bytes != page.bytes else { continue }
                wrong += 1
                _ = try await target.put(page.path, bytes: page.bytes, if: comparisons.condition(over: found))
            }
            if wrong == 0 { return }
        }
    }

    private func pushedByAnother(_ path: String) -> CatalogTransferError {
        CatalogTransferError(
            .pushedByAnother,
            "another publisher has pushed to '\(target.name)' at the same time: '\(path)' there is not the one that this push has read",
            hint: "push again; let only one publisher push a catalog to a place")
    }
}
