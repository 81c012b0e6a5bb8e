internal import Errors
internal import Files
internal import Foundation

extension PieceWork {
    /// Moves the part file to the place of the unit; readers do not use it before its row is written.
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
        _ piece: Piece, in folder: StoreFolder, source: CatalogOrigin?
    ) throws(StoreError) -> InstalledFile {
        guard let details = piece.details, let part = folder.part(sha256: piece.file.digest),
            let target = folder.file(details.unit.path)
        else { throw StoreError(.storage, "The file '\(piece.file.unit.name)' has no place in the store.") }
        var new = details.unit
        if piece.source == .filled, details.unit.format == .styleArchive {
            new.bytes = try prepareStyle(details, part, at: target, source: source)
            return new
        }
        // An attempt that failed after its rename, for example because the folder was not flushed.
        let isMoved = piece.file.unit.isPack && access(part.path, F_OK) != 0 && access(target.path, F_OK) == 0
        if piece.source == .filled, !isMoved { try finishFilled(details, part) }
        do throws(StorageError) {
            let size = try FileDescriptor(reading: isMoved ? target : part).size
            if isMoved {
                try Durable.sync(folder: target.deletingLastPathComponent())
            } else if piece.file.unit.isPack {
                try Durable.sync(file: part)
                // The removal of another pack may remove this folder while it is empty.
                try Durable.rename(part, creatingFolderOf: target)
            } else {
                try place(part, at: target, details.unit, source: source)
            }
            try Durable.sync(folder: folder.parts)
            new.bytes = new.format == .styleArchive ? StyleFiles.bytes(target) : size
        } catch { throw .storage(error, "The file '\(details.unit.path)' cannot be installed.") }
        if piece.source == .filled { noteTiles(of: target, in: &new) }
        return new
    }

    private static func place(
        _ part: URL, at target: URL, _ unit: InstalledFile, source: CatalogOrigin?
    ) throws(StorageError) {
        let home = target.deletingLastPathComponent()
        let new = newFolder(of: home)
        // What a crash has left is made again.
        try removeFolder(new)
        try Durable.makeFolder(new)
        // Before the file moves, so that a folder with the file says to whom it belongs.
        try Durable.write(
            try UnitDocument(unit, source: source).encoded(), to: new.appending(path: UnitDocument.name))
        try Durable.sync(file: part)
        let file = new.appending(path: target.lastPathComponent)
        // Before the part file moves, so that a full disk leaves it where it is.
        if unit.format == .styleArchive { try StyleFiles.unpack(part, nextTo: file) }
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
                if let document = UnitDocument.read(new.appending(path: UnitDocument.name)),
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
