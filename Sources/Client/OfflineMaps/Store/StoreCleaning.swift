internal import Digests
internal import Errors
internal import Files
internal import Foundation

/// Clears what lies in a store and belongs to nothing: the rest of interrupted work, and strays.
///
/// For the process that holds the lock, before anything is planned. What cannot be removed, moved or read never stops the
/// opening of a store: it is noted in ``left``, and the next opening tries again.
struct StoreCleaning: Sendable {
    let folder: StoreFolder
    /// What could not be cleared.
    private(set) var left: [Finding] = []

    init(_ folder: StoreFolder) { self.folder = folder }

    /// Notes that a file could not be cleared.
    mutating func note(_ url: URL, _ problem: String) {
        left.append(Finding(path: folder.relative(url) ?? url.path, problem: problem))
    }

    /// Removes a file, or a folder with its files.
    ///
    /// - Returns: Whether it is gone.
    @discardableResult mutating func remove(_ url: URL) -> Bool {
        do throws(StorageError) {
            try FileInstaller.removeFolder(url)
            return true
        } catch {
            note(url, error.message)
            return false
        }
    }

    /// Moves the files of unfinished folders back to the part files, and removes the folders.
    mutating func giveBackUnfinished() {
        for path in StoreScan.unitFolders(folder) where path.hasSuffix(".new") {
            let new = folder.root.appending(path: path, directoryHint: .isDirectory)
            if let document = InstalledFileDocument.read(new.appending(path: InstalledFileDocument.name)),
                let part = folder.part(sha256: document.file.sha256), access(part.path, F_OK) != 0
            {
                let file = new.appending(path: document.file.path)
                do throws(StorageError) { if StoreScan.isFile(file) { try Durable.rename(file, to: part) } } catch {
                    // The next opening moves it.
                    note(file, error.message)
                    continue
                }
            }
            remove(new)
        }
    }

    /// Packs without a row become part files again when their names have their digests; others are removed.
    mutating func giveBackPacks(besides known: Set<String>) {
        for path in StoreScan.packs(folder) where !known.contains(path) {
            guard let file = folder.file(path) else { continue }
            if let part = part(of: file), access(part.path, F_OK) != 0 {
                do throws(StorageError) { try Durable.rename(file, to: part) } catch { note(file, error.message) }
            } else {
                remove(file)
            }
            Durable.removeEmptyFolders(of: [file], upTo: folder.root)
        }
    }

    /// The part file that a pack can become again; `nil` for a pack that cannot be read or has other bytes.
    private func part(of pack: URL) -> URL? {
        let name = pack.deletingPathExtension().lastPathComponent
        // A pack that cannot be read is removed.
        guard StoreScan.isFile(pack), let digest = try? Digest.ofFile(pack).digest.hex, digest.hasPrefix(name),
            name.count == 16
        else { return nil }
        return folder.part(sha256: digest)
    }

    /// Removes everything from the folder of part files that is not a part file, and unfinished reserves.
    mutating func removeStrays() {
        // Folders too: a style that was being looked at is unpacked in one.
        for stray in StoreScan.strays(folder) + StoreScan.reserveDrafts(folder) { remove(stray) }
    }

    /// The files at their places that no row names, with the bytes that their documents state.
    ///
    /// A file is without a row after a crash between its installation and its row, or between the removal of its row and
    /// its own: that row may have gone because the file is damaged, so every byte is compared.
    mutating func rowless(besides rows: [InstalledFile]) -> [InstalledFile] {
        let paths = Set(rows.map(\.path))
        let homes = Set(paths.compactMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } })
        let found = StoreScan.units(folder, besides: homes)
        for path in found.refused { removeRest(of: path, paths) }
        let known = Set(rows.map(\.id))
        return found.files.filter { file in
            guard !known.contains(file.id), !paths.contains(file.path) else { return false }
            guard StoreVerify.problem(file, in: folder, deep: true) != nil else { return true }
            if let home = folder.file(file.path)?.deletingLastPathComponent(), remove(home) {
                Durable.removeEmptyFolders(of: [home], upTo: folder.root)
            }
            return false
        }
    }

    /// Removes a folder of a file whose file is gone and that no row names: its removal was interrupted.
    private mutating func removeRest(of document: String, _ paths: Set<String>) {
        // A folder that cannot be listed stays as it is.
        guard let home = folder.file(document)?.deletingLastPathComponent(), let place = folder.relative(home),
            let names = try? FileManager.default.contentsOfDirectory(atPath: home.path),
            names == [InstalledFileDocument.name], !paths.contains(where: { $0.hasPrefix(place + "/") })
        else { return }
        if remove(home) { Durable.removeEmptyFolders(of: [home], upTo: folder.root) }
    }

    /// The files of rows that are missing, in the order of their installation.
    ///
    /// A file whose folder may not be read is not missing: it is noted, and readers find out whether they may read it.
    mutating func missing(of rows: [InstalledFile]) -> [FileID] {
        rows.sorted { ($0.order, $0.id) < ($1.order, $1.id) }.filter { file in
            guard let place = folder.place(of: file) else { return true }
            switch StoreScan.absence(of: place) {
            case nil: return false
            case ENOENT?, ENOTDIR?: return true
            case let number?:
                note(place, StorageError.system(number, action: "read", path: place.path).message)
                return false
            }
        }
        .map(\.id)
    }
}
