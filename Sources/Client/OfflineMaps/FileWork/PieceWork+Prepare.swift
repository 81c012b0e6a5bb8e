internal import Errors
internal import Files
internal import Foundation

/// Which catalog a unit comes from; its unit file says so, for a repair of the database.
struct CatalogMarkOfUnit: Hashable, Sendable {
    var address: String?
    var key: String?
    var sequence: Int64?
}

extension PieceWork {
    /// Moves the part file to the place of the unit; readers do not use it before its row is written.
    ///
    /// A package or style gets a folder with its unit file. The folder has the suffix `.new` until both are durable. A
    /// crash in between loses no byte: ``giveBack(_:)`` moves the part file back.
    ///
    /// A style is unpacked next to its archive: readers need its files.
    ///
    /// - Returns: Bytes of the file, with those of an unpacked style.
    /// - Throws: `disk-full`, `storage`.
    static func prepare(
        _ piece: Piece, _ details: PieceDetails, in folder: StoreFolder, source: CatalogMarkOfUnit?
    ) throws(StoreError) -> UInt64 {
        guard let part = folder.part(sha256: piece.file.digest), let target = folder.file(details.unit.path) else {
            throw StoreError(.storage, "The unit '\(details.unit.path)' has no place in the store.")
        }
        if piece.source == .filled, details.unit.format == .styleArchive {
            return try prepareStyle(details, part, at: target, source: source)
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
            return details.unit.format == .styleArchive ? StyleFiles.bytes(target) : size
        } catch { throw .storage(error, "The unit '\(details.unit.path)' cannot be installed.") }
    }

    private static func place(
        _ part: URL, at target: URL, _ unit: UnitRow, source: CatalogMarkOfUnit?
    ) throws(StorageError) {
        let home = target.deletingLastPathComponent()
        let new = newFolder(of: home)
        // What a crash has left is made again.
        try removeFolder(new)
        try Durable.makeFolder(new)
        let document = UnitDocument(
            unit, file: target.lastPathComponent, address: source?.address, key: source?.key,
            sequence: source?.sequence)
        // Before the file moves, so that a folder with the file says to whom it belongs.
        try Durable.write(try bytes(of: document), to: new.appending(path: UnitDocument.name))
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
                    let part = folder.part(sha256: document.sha256), access(part.path, F_OK) != 0
                {
                    let file = new.appending(path: document.file)
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

    private static func bytes(of document: UnitDocument) throws(StorageError) -> [UInt8] {
        do { return try document.encoded() } catch {
            throw StorageError(.io, "The unit file of '\(document.item)' cannot be written: \(error).", cause: error)
        }
    }
}
