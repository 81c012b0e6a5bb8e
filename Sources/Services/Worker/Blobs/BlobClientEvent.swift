internal import Digests
internal import Foundation
internal import Wire

/// Limits and intervals of a worker's blob link.
///
/// Times are milliseconds, sizes bytes.
struct BlobClientPolicy: Hashable, Sendable {
    /// Size of a sent chunk in bytes.
    var chunk: UInt64 = 512 << 10
    /// Bytes of one download that may be under way.
    var window: UInt64 = 4 << 20
    /// Number of blobs sent at the same time, and the same number of downloads.
    ///
    /// Others wait.
    static let transfers = 4
    /// Time before an unanswered request is repeated.
    static let retry: Int64 = 3_000
    /// Time before a transfer without progress is restarted.
    ///
    /// A broken connection is noticed at once. This is for frames that were lost elsewhere.
    static let stall: Int64 = 20_000
    /// Time without any message before the connection is replaced.
    static let silence: Int64 = 45_000
    /// Longest pause after a temporary refusal.
    static let longestPause: Int64 = 15_000
    /// Consecutive refusals after which a transfer fails: about eight minutes.
    static let maxRefusals = 40
}

/// Identifies one transfer.
typealias BlobTransferID = UInt64

/// The result of a transfer.
enum BlobOutcome: Hashable, Sendable {
    /// The blob is durable at the coordinator.
    case stored
    /// The blob's bytes are in the file.
    case fetched
    /// The coordinator has a blob of this size.
    case size(UInt64)
    /// The coordinator does not have the blob.
    case absent
    case failed(code: String, text: String)
    case cancelled
}

/// The inputs of a blob client.
enum BlobClientEvent: Sendable {
    case put(BlobTransferID, Digest, size: UInt64)
    case get(BlobTransferID, Digest)
    case ask(BlobTransferID, Digest)
    case cancel(BlobTransferID)
    /// The link connected or reconnected. Everything under way is lost.
    case linked
    /// A message; `re` is the number of the frame that it answers.
    case message(Message, re: UInt64)
    /// Result of `read`; `nil` when the file cannot be read.
    case piece(BlobTransferID, offset: UInt64, Data?)
    /// Result of `write`; `nil` when it failed.
    case wrote(BlobTransferID, UInt64?)
    case tick
}

/// What the caller must do, in this order.
enum BlobClientEffect: Hashable, Sendable {
    case send(seq: UInt64, Message)
    /// Read a piece of the file to send; one at a time.
    case read(BlobTransferID, offset: UInt64, count: Int)
    /// Append to the downloaded file; one write at a time.
    case write(BlobTransferID, offset: UInt64, [Data])
    case end(BlobTransferID, BlobOutcome)
    /// More of the sent data has arrived.
    case moved(BlobTransferID)
    /// Close the connection and open a new one.
    case reconnect
}
