internal import Foundation
internal import Shards
internal import Wire

/// The numbers of a worker's blob link.
///
/// Times are milliseconds, sizes bytes.
struct BlobClientPolicy: Hashable, Sendable {
    /// Bytes of a chunk that is sent.
    var chunk: UInt64 = 512 << 10
    /// Bytes of one blob that may be under way to here.
    var window: UInt64 = 4 << 20
    /// Blobs sent at a time, and as many fetched; others wait their turn.
    var transfers = 4
    /// Before a question without an answer is asked again.
    var retry: Int64 = 3_000
    /// Before a transfer that stands still is taken up anew.
    ///
    /// A cut is noticed at once; this is for frames lost elsewhere.
    var stall: Int64 = 20_000
    /// Without any message this long the connection is made anew.
    var silence: Int64 = 45_000
    /// Longest pause after a refusal that may pass.
    var longestPause: Int64 = 15_000
    /// Refusals in a row after which a transfer has failed: about eight minutes.
    var mostRefusals = 40
}

/// Names one transfer.
typealias BlobTransferID = UInt64

/// How a transfer ended.
enum BlobOutcome: Hashable, Sendable {
    /// The blob is durable at the coordinator.
    case stored
    /// The blob's bytes are in the file.
    case fetched
    /// The coordinator holds a blob of this size.
    case size(UInt64)
    /// The coordinator does not hold the blob.
    case absent
    case failed(code: String, text: String)
    case cancelled
}

/// What can happen to a blob client.
enum BlobClientEvent: Sendable {
    case put(BlobTransferID, Digest, size: UInt64)
    case get(BlobTransferID, Digest)
    case ask(BlobTransferID, Digest)
    case cancel(BlobTransferID)
    /// The link came up, or came back: what was under way is lost.
    case linked
    /// A message; `re` is the number of the frame it answers.
    case message(Message, re: UInt64)
    /// Answer to `read`; `nil` when the file cannot be read.
    case piece(BlobTransferID, offset: UInt64, Data?)
    /// Answer to `write`; `nil` when it failed.
    case wrote(BlobTransferID, UInt64?)
    case tick
}

/// What the shell must do, in this order.
enum BlobClientEffect: Hashable, Sendable {
    case send(seq: UInt64, Message)
    /// Read a piece of the file that is sent; one at a time.
    case read(BlobTransferID, offset: UInt64, count: Int)
    /// Append to the file that is fetched; one write at a time.
    case write(BlobTransferID, offset: UInt64, [Data])
    case end(BlobTransferID, BlobOutcome)
    /// More of what was sent has arrived.
    case moved(BlobTransferID)
    /// Drop the connection and make another.
    case reconnect
}
