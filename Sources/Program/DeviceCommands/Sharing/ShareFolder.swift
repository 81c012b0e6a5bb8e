import CatalogFormat
internal import CommandSupport
import Errors
import Files
import Foundation
import OfflineMaps

/// Writes the files that a store offers into a folder that another device reads as a catalog.
///
/// Files come first and lists last, so that a reader sees what was there before or all of it. A file is linked where it can
/// be, which takes no space, and copied elsewhere. Repeat it after an interruption.
struct ShareFolder: Sendable {
    let folder: URL
    /// Whether files are copied even where they could be linked.
    let copies: Bool

    /// What was done.
    struct Report: Encodable, Sendable {
        /// Files that were put there, by their paths.
        var added: [String] = []
        /// Files that were there.
        var kept = 0
        /// Files of an earlier share that are not part of this one.
        var removed: [String] = []
        /// Bytes of all files.
        var bytes: UInt64 = 0
        /// What the share has.
        var entries: [ShareManifest.Entry] = []
    }

    /// Refuses a folder that has something else than an earlier share.
    ///
    /// - Throws: ``CLIError`` 73.
    func check() throws {
        guard FileKind.isThere(folder) else { return }
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: folder.path) } catch {
            throw CLIError(.cannotCreate, "'\(folder.path)' cannot be read as a folder: \(error.localizedDescription)")
        }
        guard names.isEmpty || earlier != nil else {
            throw CLIError(
                .cannotCreate, "'\(folder.path)' is not empty and is no earlier share",
                hint: "name a new folder, or an earlier share to bring it up to date")
        }
    }

    private var manifest: URL { folder.appending(path: ShareManifest.fileName) }

    /// What an earlier share has written; `nil` where there is none.
    private var earlier: ShareManifest? {
        // A document that cannot be read is not of a share.
        (try? Data(contentsOf: manifest)).flatMap { ShareManifest(decoding: $0) }
    }

    /// Makes the folder.
    ///
    /// - Throws: ``StorageError``.
    func make() throws(StorageError) { try Durable.makeFolder(folder) }

    /// Writes the share; it blocks.
    ///
    /// - Parameter files: Those of `share` whose bytes were compared.
    /// - Throws: ``StorageError``.
    func write(_ share: MapShare, _ files: [MapShare.File]) throws(StorageError) -> Report {
        var report = Report()
        let wanted = Set(files.map(\.listed.path))
        let before = earlier ?? ShareManifest([])
        var new = ShareManifest(files.map(\.listed))
        report.entries = new.entries
        // From the first file on, so that an interrupted share is known as one, with all files that it may have put there.
        var between = before
        between.paths = wanted.union(before.paths ?? []).sorted()
        try Durable.write(between.encoded(), to: manifest)
        for file in files {
            report.bytes += file.listed.size
            if try add(file) { report.added.append(file.listed.path) } else { report.kept += 1 }
        }
        try writeLists(share)
        report.removed = try remove((before.paths ?? []).filter { !wanted.contains($0) })
        new.paths = wanted.sorted()
        try Durable.write(new.encoded(), to: manifest)
        return report
    }

    /// Replaces the list.
    ///
    /// Between its two files, the signature file has the signatures of both lists.
    private func writeLists(_ share: MapShare) throws(StorageError) {
        let (list, signature) = (
            folder.appending(path: CatalogIndex.fileName), folder.appending(path: CatalogIndex.signatureName)
        )
        guard let bytes = share.signature.map({ [UInt8]($0) }) else {
            try Durable.write([UInt8](share.list), to: list)
            return try Durable.remove(signature)
        }
        // An unreadable signature file of an earlier share is of no use to its readers.
        let earlier = (try? Data(contentsOf: signature)).flatMap { try? CatalogSignature(decoding: [UInt8]($0)) }
        // The store has proved these bytes, or needs no proof.
        if let earlier, let both = try? CatalogSignature(decoding: bytes).keeping(earlier) {
            try Durable.write(both, to: signature)
        } else {
            try Durable.write(bytes, to: signature)
        }
        try Durable.write([UInt8](share.list), to: list)
        try Durable.write(bytes, to: signature)
    }

    /// Puts a file at its place; whether it was not there.
    private func add(_ file: MapShare.File) throws(StorageError) -> Bool {
        let target = folder.appending(path: file.listed.path)
        // A name is never given other bytes; a copy that was damaged is replaced.
        if isSame(target, file.place) { return false }
        try Durable.makeFolder(target.deletingLastPathComponent())
        let new = Self.unfinished(target)
        try Durable.remove(new)
        if copies || link(file.place.path, new.path) != 0 { try Durable.copy(file.place, to: new) }
        try Durable.rename(new, to: target)
        return true
    }

    /// Whether both names are of one file, or the copy has the bytes.
    private func isSame(_ copy: URL, _ file: URL) -> Bool {
        var (one, other) = (stat(), stat())
        guard stat(copy.path, &one) == 0, stat(file.path, &other) == 0, one.st_size == other.st_size else {
            return false
        }
        if one.st_ino == other.st_ino, one.st_dev == other.st_dev { return true }
        return FileManager.default.contentsEqual(atPath: copy.path, andPath: file.path)
    }

    /// Removes files that an earlier share has put there, and what an interrupted one has left of them.
    private func remove(_ paths: [String]) throws(StorageError) -> [String] {
        var removed: [String] = []
        for path in paths where Self.isOfShare(path) {
            let url = folder.appending(path: path)
            try Durable.remove(Self.unfinished(url))
            guard FileKind.isThere(url) else { continue }
            try Durable.remove(url)
            removed.append(path)
        }
        Durable.removeEmptyFolders(of: removed.map { folder.appending(path: $0) }, upTo: folder)
        return removed.sorted()
    }

    /// The name of a file that is being put there.
    private static func unfinished(_ file: URL) -> URL {
        file.deletingLastPathComponent().appending(path: ".\(file.lastPathComponent).new")
    }

    /// Whether a name is one that a share gives.
    private static func isOfShare(_ path: String) -> Bool {
        let parts = path.split(separator: "/")
        return parts.dropLast().contains { $0 == "packages" || $0 == "styles" } && parts.count >= 3
    }
}
