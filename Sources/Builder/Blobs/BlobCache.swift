public import Digests
public import Errors
public import Files
public import Foundation
internal import Synchronization

/// Local copies of blobs from a remote store, and files that the store has not uploaded yet.
///
/// Blobs in use stay; of the others, the most recently used stay up to a limit. The files belong to one process; after
/// a crash the next start removes them.
public final class BlobCache: Sendable {
    private struct Entry {
        let file: URL
        let task: Task<Bool, any Error>
        /// Callers that wait for the file and were not cancelled; with 0 the download is cancelled.
        var waiting = 1
        /// Callers that hold the file or are about to.
        var holders = 1
        /// Once it is there.
        var size: UInt64?
        var lastUse: UInt64 = 0
    }

    private struct State {
        var entries: [Digest: Entry] = [:]
        var bytes: UInt64 = 0
        var uses: UInt64 = 0
    }

    /// Bytes of kept blobs that are not in use.
    public let limit: UInt64
    private let reserve: UInt64
    private let scratch: ScratchFolder
    private let state = Mutex(State())

    /// Makes a cache in a folder of its own below `folder`.
    ///
    /// - Parameters:
    ///   - folder: A local folder; made if it does not exist. Several processes may use the same folder.
    ///   - limit: Bytes of kept blobs that are not in use, default 4 GiB. Blobs that are in use are not counted.
    ///   - reserve: ``temporaryURL()`` fails if fewer bytes are free; default 1 MiB.
    /// - Throws: `disk-full` or `io`.
    public init(_ folder: URL, limit: UInt64 = 4 << 30, reserve: UInt64 = 1 << 20) throws(StorageError) {
        self.limit = limit
        self.reserve = reserve
        scratch = try ScratchFolder(in: folder)
    }

    /// A fresh name for a file of the caller's own, on the cache's file system.
    ///
    /// - Throws: `disk-full` if too little space is left even after unused blobs are removed.
    public func temporaryURL() throws(StorageError) -> URL {
        if try Durable.freeBytes(scratch.url) < reserve { evict(downTo: 0) }
        let free = try Durable.freeBytes(scratch.url)
        guard free >= reserve else {
            throw StorageError(
                .diskFull,
                "Only \(free) bytes are free in '\(scratch.url.path)', \(reserve) are needed as a reserve. Free some space there."
            )
        }
        return freshURL("tmp")
    }

    /// The blob from the cache, or from `fetch`; concurrent callers share one fetch.
    ///
    /// - Parameters:
    ///   - digest: The expected digest of its bytes.
    ///   - fetch: Writes the blob to the given file and returns `true`, or returns `false` if there is no such blob.
    ///     Cancelled if no caller waits for it any more.
    /// - Returns: The file, or `nil` if `fetch` returned `false`.
    /// - Throws: what `fetch` throws; `digest-mismatch` when it wrote something else.
    public func blob(_ digest: Digest, fetch: @escaping @Sendable (URL) async throws -> Bool) async throws -> LocalBlob?
    {
        let (file, task) = join(digest, fetch)
        let hold = LocalBlob(file) { [weak self] in self?.release(digest, file) }
        let isThere = try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            abandon(digest, file)
        }
        try Task.checkCancellation()
        return isThere ? hold : nil
    }

    /// Keeps a finished file as the blob with that digest, as long as the limit allows.
    ///
    /// The caller guarantees the digest; its name is gone afterwards.
    public func adopt(_ temporary: URL, digest: Digest) throws(StorageError) {
        let size = try FileDescriptor(reading: temporary).size
        let file = freshURL(digest.hex)
        guard rename(temporary.path, file.path) == 0 else {
            throw StorageError.system(errno, action: "rename to", path: file.path)
        }
        let isNew = state.withLock { state in
            guard state.entries[digest] == nil else { return false }
            state.uses += 1
            state.bytes += size
            let done = Task<Bool, any Error> { true }
            state.entries[digest] = Entry(
                file: file, task: done, waiting: 0, holders: 0, size: size, lastUse: state.uses)
            return true
        }
        if !isNew { unlink(file.path) }
        evict(downTo: limit)
    }

    /// Bytes of all files in the cache's folder now: kept blobs, and files that are being made.
    ///
    /// Lists the folder.
    public func bytesOnDisk() -> UInt64 {
        var sum: UInt64 = 0
        // A folder that cannot be listed has no files that count; a file may be removed while it is looked at.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: scratch.url.path)) ?? [] {
            var status = stat()
            guard lstat(scratch.url.appendingPathComponent(name).path, &status) == 0,
                status.st_mode & S_IFMT == S_IFREG
            else { continue }
            sum &+= UInt64(max(0, status.st_size))
        }
        return sum
    }

    // MARK: - Inside

    private func freshURL(_ name: String) -> URL {
        scratch.url.appendingPathComponent("\(name).\(TemporaryName.random())")
    }

    private func join(
        _ digest: Digest, _ fetch: @escaping @Sendable (URL) async throws -> Bool
    ) -> (URL, Task<Bool, any Error>) {
        state.withLock { state in
            state.uses += 1
            if var entry = state.entries[digest] {
                entry.waiting += 1
                entry.holders += 1
                entry.lastUse = state.uses
                state.entries[digest] = entry
                return (entry.file, entry.task)
            }
            // A name that no earlier or later copy has, so that removing one cannot hit another.
            let file = freshURL(digest.hex)
            // A separate task, because all waiting callers share it; ``abandon`` cancels it when the last caller
            // leaves.
            let task = Task { [self] in
                do {
                    guard try await fetch(file) else {
                        forgetDownload(of: digest, at: file)
                        return false
                    }
                    let (found, size) = try await FileWork.run { try Digest.ofFile(file) }
                    guard found == digest else {
                        throw StorageError(
                            .digestMismatch,
                            "The blob \(digest) arrived with the digest \(found) (\(size) bytes). It will be fetched again."
                        )
                    }
                    finishDownload(of: digest, at: file, size: size)
                    return true
                } catch {
                    forgetDownload(of: digest, at: file)
                    throw error
                }
            }
            state.entries[digest] = Entry(file: file, task: task, lastUse: state.uses)
            return (file, task)
        }
    }

    private func finishDownload(of digest: Digest, at file: URL, size: UInt64) {
        let isWanted = state.withLock { state in
            guard state.entries[digest]?.file == file else { return false }
            state.entries[digest]?.size = size
            state.bytes += size
            return true
        }
        if !isWanted { unlink(file.path) }
        evict(downTo: limit)
    }

    /// A waiting caller was cancelled; when the last one is cancelled, the download ends.
    private func abandon(_ digest: Digest, _ file: URL) {
        let task: Task<Bool, any Error>? = state.withLock { state in
            guard var entry = state.entries[digest], entry.file == file, entry.size == nil else { return nil }
            entry.waiting -= 1
            guard entry.waiting <= 0 else {
                state.entries[digest] = entry
                return nil
            }
            // A new caller starts a new download.
            state.entries[digest] = nil
            return entry.task
        }
        task?.cancel()
    }

    /// Forgets a download that came to nothing.
    private func forgetDownload(of digest: Digest, at file: URL) {
        state.withLock { state in
            if state.entries[digest]?.file == file { state.entries[digest] = nil }
        }
        unlink(file.path)
    }

    private func release(_ digest: Digest, _ file: URL) {
        state.withLock { state in
            if state.entries[digest]?.file == file { state.entries[digest]?.holders -= 1 }
        }
        evict(downTo: limit)
    }

    private func evict(downTo most: UInt64) {
        let files = state.withLock { state -> [URL] in
            guard state.bytes > most else { return [] }
            var removed: [URL] = []
            let idle = state.entries.filter { $0.value.holders == 0 && $0.value.size != nil }
            for (digest, entry) in idle.sorted(by: { $0.value.lastUse < $1.value.lastUse }) where state.bytes > most {
                state.bytes -= entry.size ?? 0
                state.entries[digest] = nil
                removed.append(entry.file)
            }
            return removed
        }
        for file in files { unlink(file.path) }
    }
}
