/// The number of a call that waits for an answer.
struct RequestID: Hashable, Codable, Sendable { var number: Int64 }

/// The number of a write; writes are acknowledged in their order.
struct WriteID: Hashable, Comparable, Sendable {
    var number: Int64
    static func < (left: WriteID, right: WriteID) -> Bool { left.number < right.number }
}

/// The number of something that the shell does for the machine.
struct OpID: Hashable, Comparable, Sendable {
    var number: Int64
    static func < (left: OpID, right: OpID) -> Bool { left.number < right.number }
}

/// What a call, of this or another process, asks of the queue.
enum Request: Hashable, Codable, Sendable {
    /// The id of the record is ignored.
    case add(TaskRecord)
    case setPriority(TaskID, Int32)
    case cancel(TaskID)
    case retry(TaskID)
    case setQuota(Quota)
    case setNetworkRule(NetworkRule)
    /// Files that the shell has put at their places become current, all of them or none.
    case adopt([AdoptedFile])
    /// A reader has found that a file is damaged.
    case noteDamage(FileID)
}

/// What a call gets back.
enum Answer: Hashable, Codable, Sendable {
    case task(TaskID)
    case done
    case noSuchTask
    /// A limit refuses what was asked: nothing was changed, and files to adopt are removed.
    case limited(Limit)
    /// A file to adopt is just being removed: put all files at their places once more and ask again.
    case busy
}

/// A file of the device that was verified and put at its place, to become current without a download.
struct AdoptedFile: Hashable, Codable, Sendable {
    var file: InstalledFile
    var holder: Item
}

/// Why a download ended without its bytes.
enum FetchFault: Hashable, Sendable {
    /// An HTTP status that is no success; `retryAfter` in milliseconds.
    case status(Int, retryAfter: Int64?)
    /// No connection could be made.
    case noConnection
    /// The connection ended early, or no byte came for 30 s.
    case broken
    /// A page that is not what was requested: a captive portal.
    case portal
    case diskFull
    /// The disk failed otherwise; what happened and what to do.
    case storage(String)
    /// A cause that the fetcher knows.
    case refused(FailureCause)
}

/// What the catalog says about a task.
enum PlanAnswer: Hashable, Sendable {
    case plan(Plan)
    case failed(FailureCause)
    case fault(FetchFault)
}

/// What came of reading the list.
enum ListAnswer: Hashable, Sendable {
    case unchanged
    /// The list is well formed and signed; `sources` are its address and its key.
    ///
    /// `isRewritten`: the publisher has changed the list without a new version of a package, for example cut tile packs.
    case new(sequence: UInt64, sources: [String], isRewritten: Bool = false)
    case bad(FailureCause)
    case fault(FetchFault)
}

/// Something on disk that is not needed any more.
enum Trash: Hashable, Sendable {
    case part(String)
    case file(FileID)
}

/// Everything that happens outside of the machine.
enum Event: Sendable {
    /// The first event: part files and their sizes, installed folders without a row, and the free space of the disk.
    ///
    /// Requests that wait in the database come after it and before `start`: from `start` on, what no task needs and no
    /// request adopts is removed from the disk.
    case opened(parts: [String: UInt64], prepared: [InstalledFile], free: UInt64)
    /// `startReading`: only the list is read.
    case start, startReading, stop, suspend
    case asked(RequestID, Request)
    case network(NetworkState)
    case forceOffline(Bool)
    case disk(free: UInt64)
    case alarm
    case written(WriteID)
    case planned(OpID, PlanAnswer, text: String? = nil)
    case listed(OpID, ListAnswer)
    /// The part file has this size; smaller than before when the server started over.
    ///
    /// For a tile: its size, once; it is then in the part file of its pack, and `fetched` has no meaning any more.
    case received(OpID, size: UInt64)
    /// The download is complete; `expires` in seconds of the wall clock, when the server says so.
    case fetched(OpID, expires: Int64? = nil)
    case fetchFailed(OpID, FetchFault)
    /// The part file of the download is whole: downloaded, or made by a patch.
    case verified(OpID)
    /// The digest or the probe is wrong, or the patch does not fit.
    case wrong(OpID)
    /// The file is at its place, as this record says.
    case prepared(OpID, InstalledFile)
    /// Verifying, patching or preparing failed because of the disk; `text`: what happened and what to do.
    case fileFailed(OpID, isFull: Bool, text: String? = nil)
    case gone(Trash)
    /// Some bytes of a file are wrong: it stays, and does not count for plans.
    case damaged(FileID)
    /// The version before is whole and takes the place of a file that is damaged or missing, whose bytes are removed; so are
    /// those of a kept version that is damaged.
    case givesWay(FileID)
    /// A file is not at its place.
    case lost(FileID)
    /// A file that was not at its place is there again, whole.
    case returned(FileID)
    /// When files were last read, in seconds of the wall clock; for the order of evictions.
    case used([FileID: Int64])
}
