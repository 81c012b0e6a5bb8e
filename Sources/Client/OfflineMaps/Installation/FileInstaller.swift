internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import PackageFiles

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
            let made = try Patch.apply(source, to: base, into: target, replacing: true, expecting: digest)
            try Durable.sync(file: target)
            guard made.size == download.size else { return false }
            return try FileProbe.isSound(target, its.file)
        } catch let error as StoreError {
            throw error
        } catch let error as PackagesError where error.code == .diskFull {
            throw StoreError(.diskFull, "A patch cannot be applied: \(error.message)", cause: error, isRetriable: true)
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
