internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import StyleFormat

/// The existing content of a pack's folder: the entries of a finished run, and those of an interrupted run.
///
/// A line is written after its file, and is used only if the file has the line's hash, so a crash at any time does no
/// harm.
final class PackJournal {
    private let folder: URL
    private let file: URL
    private var handle: FileHandle?
    /// By URL; of a finished run: the server is asked whether they have changed.
    private(set) var finished: [String: StylePackIndex.Entry] = [:]
    /// By URL; of this run, in one or several attempts: not requested again.
    private(set) var current: [String: StylePackIndex.Entry] = [:]

    /// Opens the folder, making it when it is not there.
    ///
    /// - Throws: ``StylesError`` `exists` if the folder contains something else than a style pack, or the pack of
    ///   another style.
    init(_ folder: URL, style: String?) throws(StylesError) {
        self.folder = folder
        file = folder.appendingPathComponent(PackPath.journal)
        do throws(StorageError) {
            try Durable.makeFolder(folder)
        } catch {
            throw PackFile.error(error)
        }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        } catch {
            throw StylesError(.io, "The folder '\(folder.path)' cannot be listed.", cause: error)
        }
        if StylePack.looksLikePack(folder) {
            // A damaged index is ignored: it is only a hint.
            if let pack = try? StylePack(folder) {
                guard pack.index.style == style else {
                    throw StylesError(
                        .exists,
                        "'\(folder.path)' holds the style '\(pack.index.style ?? "of a file")'; choose another folder.")
                }
                for entry in pack.index.entries { finished[entry.url] = entry }
            }
        } else if !names.isEmpty, !names.contains(PackPath.journal) {
            throw StylesError(.exists, "'\(folder.path)' is not empty and is not a style pack; choose another folder.")
        }
        // Resources without a readable journal line are fetched again.
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        for line in text.split(separator: "\n") {
            // A line that was cut by a crash: its resource is fetched again.
            guard let entry = try? JSONDecoder().decode(StylePackIndex.Entry.self, from: Data(line.utf8)) else {
                continue
            }
            current[entry.url] = entry
        }
    }

    /// The bytes of an entry, if its file still has them.
    func bytes(_ entry: StylePackIndex.Entry) -> [UInt8]? {
        guard let path = entry.path, PackPath.isInside(path),
            // A file that cannot be read is fetched again.
            let data = try? Data(contentsOf: folder.appendingPathComponent(path)), UInt64(data.count) == entry.size,
            Digest(of: data).hex == entry.sha256
        else { return nil }
        return [UInt8](data)
    }

    /// Whether an entry of this run can be kept as it is.
    func holds(_ resource: StyleResource) -> StylePackIndex.Entry? {
        guard let entry = current[resource.url], entry.kind == resource.kind else { return nil }
        if entry.isAbsent { return resource.mayBeAbsent ? entry : nil }
        return entry.path == resource.path && bytes(entry) != nil ? entry : nil
    }

    /// Writes a body and then its line.
    func add(_ entry: StylePackIndex.Entry, _ body: [UInt8]?) throws(StylesError) {
        if let path = entry.path, let body { try PackFile.write(body, to: folder.appendingPathComponent(path)) }
        do {
            if handle == nil {
                if !FileManager.default.fileExists(atPath: file.path) { try Data().write(to: file) }
                handle = try FileHandle(forWritingTo: file)
                try handle?.seekToEnd()
            }
            try handle?.write(contentsOf: try JSONEncoder().encode(entry) + Data([0x0A]))
        } catch {
            throw PackFile.error(error, file)
        }
        current[entry.url] = entry
    }

    /// Removes the journal; call it when the index is durable.
    func finish() throws(StylesError) {
        // The journal is removed next.
        try? handle?.close()
        handle = nil
        do throws(StorageError) {
            try Durable.remove(file)
            try Durable.sync(folder: folder)
        } catch {
            throw PackFile.error(error)
        }
    }
}
