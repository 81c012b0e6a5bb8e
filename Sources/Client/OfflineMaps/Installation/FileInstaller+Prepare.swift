internal import Errors
internal import Files
internal import Foundation

extension FileInstaller {
    /// Moves the part file to the place of the file; readers do not use it before its row is written.
    ///
    /// A package or style gets a folder with its unit file. The folder has the suffix `.new` until both are durable. A
    /// crash in between loses no byte: ``giveBack(_:)`` moves the part file back.
    ///
    /// A style is unpacked next to its archive: readers need its files.
    ///
    /// - Parameter source: The catalog that the file comes from, for a repair of the database.
    /// - Returns: The file as it is there: with its bytes, also those of an unpacked style, and the tiles of a filled pack.
    /// - Throws: `disk-full`, `storage`.
    static func prepare(
        _ download: DownloadItem, in folder: StoreFolder, source: CatalogOrigin?
    ) throws(StoreError) -> InstalledFile {
        guard let details = download.details, let part = folder.part(sha256: download.file.digest),
            let target = folder.file(details.file.path)
        else { throw StoreError(.storage, "The file '\(download.file.key.name)' has no place in the store.") }
        var new = details.file
        if download.source == .filled, details.file.format == .styleArchive {
            new.bytes = try prepareStyle(details, part, at: target, source: source)
            return new
        }
        // An attempt that failed after its rename, for example because the folder was not flushed.
        let isMoved = download.file.key.isPack && access(part.path, F_OK) != 0 && access(target.path, F_OK) == 0
        if download.source == .filled, !isMoved { try finishFilled(details, part) }
        do throws(StorageError) {
            let size = try FileDescriptor(reading: isMoved ? target : part).size
            if isMoved {
                try Durable.sync(folder: target.deletingLastPathComponent())
            } else if download.file.key.isPack {
                try Durable.sync(file: part)
                // The removal of another pack may remove this folder while it is empty.
                try Durable.rename(part, creatingFolderOf: target)
            } else {
                try place(part, at: target, details.file, source: source)
            }
            try Durable.sync(folder: folder.parts)
            new.bytes = new.format == .styleArchive ? StyleFiles.bytes(target) : size
        } catch { throw .storage(error, "The file '\(details.file.path)' cannot be installed.") }
        if download.source == .filled { noteTiles(of: target, in: &new) }
        return new
    }

    private static func place(
        _ part: URL, at target: URL, _ installed: InstalledFile, source: CatalogOrigin?
    ) throws(StorageError) {
        let home = target.deletingLastPathComponent()
        let new = newFolder(of: home)
        // What a crash has left is made again.
        try removeFolder(new)
        try Durable.makeFolder(new)
        // Before the file moves, so that a folder with the file says to whom it belongs.
        try Durable.write(
            try InstalledFileDocument(installed, source: source).encoded(),
            to: new.appending(path: InstalledFileDocument.name))
        try Durable.sync(file: part)
        let file = new.appending(path: target.lastPathComponent)
        // Before the part file moves, so that a full disk leaves it where it is.
        if installed.format == .styleArchive { try StyleFiles.unpack(part, nextTo: file) }
        try Durable.rename(part, to: file)
        // A folder of the same version without a row is of no use to anyone.
        try removeFolder(home)
        try Durable.rename(new, to: home)
    }

    /// Moves the files of unfinished folders back to the part files, and removes the folders.
    ///
    /// For the process that holds the lock, before anything is planned.
    static func giveBack(_ folder: StoreFolder) throws(StoreError) {
        let unfinished = StoreScan.unitFolders(folder).filter { $0.hasSuffix(".new") }
            .map { folder.root.appending(path: $0, directoryHint: .isDirectory) }
        do throws(StorageError) {
            for new in unfinished {
                if let document = InstalledFileDocument.read(new.appending(path: InstalledFileDocument.name)),
                    let part = folder.part(sha256: document.file.sha256), access(part.path, F_OK) != 0
                {
                    let file = new.appending(path: document.file.path)
                    if access(file.path, F_OK) == 0 { try Durable.rename(file, to: part) }
                }
                try removeFolder(new)
            }
        } catch { throw .storage(error, "What an interrupted installation has left cannot be cleared.") }
    }

    static func newFolder(of home: URL) -> URL {
        home.deletingLastPathComponent().appending(path: home.lastPathComponent + ".new", directoryHint: .isDirectory)
    }

    /// Removes a folder with its files, or a file; a missing one is no error.
    static func removeFolder(_ url: URL) throws(StorageError) {
        do { try FileManager.default.removeItem(at: url) } catch {
            guard access(url.path, F_OK) != 0 else {
                throw StorageError(.io, "Cannot remove '\(url.path)': \(error.localizedDescription)", cause: error)
            }
        }
    }
}
