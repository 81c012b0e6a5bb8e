internal import CatalogFormat
internal import Errors
internal import Files
public import Foundation

/// `change.json`: the documents of a change that is made as a whole, from before the first of them is written until the
/// index names them.
struct CatalogJournal: Codable, Equatable {
    /// One document.
    struct Document: Codable, Equatable {
        /// Where it is inside the catalog.
        let path: String
        /// Its text; `nil` for one that is removed.
        let content: String?

        init(_ path: String, _ bytes: [UInt8]?) {
            self.path = path
            content = bytes.map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// In the order in which they are written.
    var documents: [Document] = []
}

extension Catalog {
    /// The name of the journal in a catalog.
    static let journalName = "change.json"

    /// Whether a change of the catalog in a folder has begun and is not complete: the next change completes it.
    public static func hasBegunChange(in folder: URL) -> Bool {
        FileManager.default.fileExists(atPath: folder.appendingPathComponent(journalName).path)
    }

    private var journalURL: URL { folder.appendingPathComponent(Self.journalName) }

    /// The documents of a change.
    func journal(
        of changes: [CatalogEdition: CatalogChange], _ record: PromotionRecord
    ) throws(CatalogError) -> CatalogJournal {
        var journal = CatalogJournal()
        for (edition, change) in changes.sorted(by: { $0.key < $1.key }) {
            for (id, list) in change.packLists.sorted(by: { $0.key < $1.key }) {
                let path = edition.path + TilePackList.path(id)
                // There is nothing to remove of a package without packs.
                guard list != nil || access(folder.appendingPathComponent(path).path, F_OK) == 0 else { continue }
                journal.documents.append(.init(path, list))
            }
            guard change.isListNew else { continue }
            journal.documents.append(.init(edition.path + "versions.json", try encoded(change.history, edition)))
            journal.documents.append(.init(edition.path + "packages.json", try encoded(change.list, edition).bytes))
        }
        journal.documents.append(.init(PromotionRecord.fileName, try record.encoded()))
        return journal
    }

    /// Makes a change certain: if this process dies, the next change of the catalog completes it first.
    ///
    /// The caller holds the lock.
    ///
    /// - Throws: `disk-full`, `io`; the change is not made then, unless the message says so.
    func begin(_ journal: CatalogJournal) throws(CatalogError) {
        do throws(CatalogError) { try write(journal, to: journalURL) } catch {
            // It may be there and not be durable.
            unlink(journalURL.path)
            throw hasOpenChange ? Self.begun(error) : error
        }
    }

    /// The change is complete.
    func endJournal() throws(CatalogError) {
        try CatalogError.naming { () throws(StorageError) in try Durable.remove(journalURL) }
    }

    /// Whether a change was begun and is not complete, or is being made now.
    var hasOpenChange: Bool { access(journalURL.path, F_OK) == 0 }

    /// Completes a change that a process began and did not end; the caller holds the lock.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: `signing-key` for a signed catalog without its key; `catalog-corrupt`, `disk-full`, `io`.
    func completeChange() throws(CatalogError) -> Bool {
        guard let bytes = try Self.bytes(journalURL) else { return false }
        try checkMaySign()
        let journal: CatalogJournal
        do { journal = try JSONDecoder().decode(CatalogJournal.self, from: Data(bytes)) } catch {
            throw Self.badJournal(journalURL, cause: error)
        }
        guard journal.documents.allSatisfy({ CatalogIndex.isInside($0.path) }) else {
            throw Self.badJournal(journalURL, cause: nil)
        }
        try markIndexStale()
        for document in journal.documents {
            let target = folder.appendingPathComponent(document.path)
            if let content = document.content {
                // Without its type, the array would be written as a JSON array of numbers.
                let bytes: [UInt8] = Array(content.utf8)
                try write(bytes, to: target)
            } else {
                try CatalogError.naming { () throws(StorageError) in try Durable.remove(target) }
            }
        }
        try refreshIndex()
        unmarkIndex()
        try endJournal()
        return true
    }

    private static func badJournal(_ url: URL, cause: (any Error)?) -> CatalogError {
        CatalogError(
            .corrupt,
            "'\(url.path)' is not a change that this build began. Remove it to give that change up, then repeat the change.",
            cause: cause)
    }
}
