internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import PackageFiles
internal import TextFormats

/// The work on a download's files: verify, patch, prepare.
///
/// Every call blocks and reads the whole file: call it on a thread that may block (`FileWork.run`). Every call can be
/// repeated after a crash at any point.
enum FileInstaller {
    /// Whether the part file of a download has the size, the digest and the content that the catalog promises.
    ///
    /// - Returns: `false` for wrong bytes.
    /// - Throws: `disk-full`, `storage` when the file cannot be read.
    static func verify(_ download: DownloadItem, in folder: StoreFolder) throws(StoreError) -> Bool {
        guard let part = folder.part(sha256: download.file.digest), let installed = download.details?.file,
            installed.id == download.file
        else { return false }
        guard try hasBytes(part, size: download.size, sha256: download.file.digest) else { return false }
        return try FileProbe.isSound(part, installed)
    }

    /// Makes the part file of a download from the installed file and the part file of the patch.
    ///
    /// - Returns: `false` when the patch is wrong or does not fit.
    /// - Throws: `disk-full`, `storage`.
    static func patch(_ download: DownloadItem, in folder: StoreFolder) throws(StoreError) -> Bool {
        guard let patch = download.patch, let source = folder.part(sha256: patch.digest), let its = download.details,
            let base = its.base,
            let target = folder.part(sha256: download.file.digest), let digest = Digest(hex: download.file.digest),
            try hasBytes(source, size: patch.size, sha256: patch.digest)
        else { return false }
        do {
            let made = try Patch.apply(
                source, to: base, into: target, replacing: true, expecting: digest, size: download.size)
            try Durable.sync(file: target)
            guard made.size == download.size else { return false }
            return try FileProbe.isSound(target, its.file)
        } catch let error as StoreError {
            throw error
        } catch let error as PackagesError where error.code == .diskFull {
            throw StoreError(
                .diskFull, "A patch cannot be applied: \(Sentence.inner(error.message))", cause: error,
                isRetriable: true)
        } catch let error as StorageError where error.code == .diskFull {
            throw .storage(error, "A patch cannot be applied.")
        } catch {
            // The whole file is downloaded in its place, also when the installed file cannot be read.
            return false
        }
    }

    private static func hasBytes(_ file: URL, size: UInt64, sha256: String) throws(StoreError) -> Bool {
        do throws(StorageError) {
            // The size first: a file of another size is not read.
            guard try FileDescriptor(reading: file).size == size else { return false }
            let found = try Digest.ofFile(file)
            return found.size == size && found.digest.hex == sha256
        } catch { throw .storage(error, "A part file cannot be verified.") }
    }
}

extension FileInstaller {
    /// Moves the part file to the place of the file; readers do not use it before its row is written.
    ///
    /// A package or style gets a folder with its unit file. The folder has the suffix `.new` until both are durable. A
    /// crash in between loses no byte: ``StoreCleaning`` moves the part file back.
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
        // What was known of a file that has left meanwhile does not count.
        new.expires = nil
        if download.source == .filled, details.file.format == .styleArchive {
            new.bytes = try prepareStyle(details, part, at: target, source: source)
            return new
        }
        // An attempt that failed after its rename, for example because the folder was not flushed.
        var isMoved = download.file.key.isPack && access(part.path, F_OK) != 0 && access(target.path, F_OK) == 0
        // What is there may also be a damaged file with its name.
        if isMoved, download.source != .filled {
            isMoved = try hasBytes(target, size: download.size, sha256: download.file.digest)
        }
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
        if installed.format != .styleArchive, StoreScan.isFile(target) {
            return try replace(target, by: part, installed, source: source)
        }
        let new = newFolder(of: home)
        // What a crash has left is made again.
        try removeFolder(new)
        try Durable.makeFolder(new)
        // Before the file moves, so that a folder with the file says to which item it belongs.
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

    /// Puts the part file in the place of a damaged file with the same name: at each moment one of both can be read.
    private static func replace(
        _ target: URL, by part: URL, _ installed: InstalledFile, source: CatalogOrigin?
    ) throws(StorageError) {
        try Durable.write(
            try InstalledFileDocument(installed, source: source).encoded(),
            to: target.deletingLastPathComponent().appending(path: InstalledFileDocument.name))
        try Durable.sync(file: part)
        try Durable.rename(part, to: target)
    }

    static func newFolder(of home: URL) -> URL {
        home.deletingLastPathComponent().appending(path: home.lastPathComponent + ".new", directoryHint: .isDirectory)
    }

    /// Removes a folder with its files, or a file; a missing one is no error.
    static func removeFolder(_ url: URL) throws(StorageError) {
        do { try FileManager.default.removeItem(at: url) } catch {
            var status = stat()
            guard lstat(url.path, &status) != 0, errno == ENOENT || errno == ENOTDIR else {
                throw StorageError(.io, "Cannot remove '\(url.path)': \(error.localizedDescription)", cause: error)
            }
        }
    }
}
