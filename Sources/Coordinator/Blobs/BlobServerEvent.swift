import Foundation
import Shards
import Wire

/// The blob server's numbers.
///
/// Times are milliseconds, sizes bytes.
struct BlobServerPolicy: Hashable, Sendable {
    /// Bytes that one session may have under way, each direction.
    ///
    /// Eight chunks of 1 MiB (docs/decisions/0034-worker-and-blob-transfers.md).
    var peerWindow: UInt64 = 8 << 20
    /// Bytes that all sessions together may have under way, each direction: what the server can be made to hold in memory.
    var globalWindow: UInt64 = 256 << 20
    /// Blobs that one session may send, and as many that it may fetch, at a time.
    var transfersPerPeer = 8
    /// Blobs that may be sent, and as many that may be fetched, at a time.
    var mostTransfers = 1_024
    /// Largest blob.
    var mostBytes: UInt64 = 1 << 40
    /// Bytes of a chunk that is sent.
    var chunk: UInt64 = 512 << 10
    /// A transfer without a word from its session this long is forgotten; what arrived of a blob stays on disk.
    var idle: Int64 = 60_000
    /// Another session may go on with an upload whose own was silent this long.
    var takeover: Int64 = 10_000
    /// Chunks beyond the credit that one upload may bring: those under way when it was taken up anew.
    var mostExcess = 64
}

/// Why a transfer cannot go on, in words for the wire.
struct BlobTrouble: Error, Hashable, Sendable {
    let code: String
    let text: String
    let isRetriable: Bool

    static let busy = BlobTrouble(
        code: "busy", text: "Too many blobs are under way; this one's turn will come.", isRetriable: true)
}

/// A number for each thing the server asks of the disk, so that late answers are told from wanted ones.
typealias BlobTicket = UInt64

/// One session's fetching of one blob.
struct DownloadKey: Hashable, Sendable {
    let session: UInt64
    let digest: Digest
}

/// What can happen to the blob server.
enum BlobServerEvent: Sendable {
    /// A message of a session; `seq` is the frame's number.
    case message(session: UInt64, seq: UInt64, Message)
    /// Answer to `look`.
    case looked(Digest, BlobTicket, Result<PartialBlobs.Found, BlobTrouble>)
    /// Answer to `write`.
    case wrote(Digest, BlobTicket, Result<UInt64, BlobTrouble>)
    /// Answer to `seal`.
    case sealed(Digest, BlobTicket, BlobTrouble?)
    /// Answer to `find`.
    case found(DownloadKey, BlobTicket, Result<UInt64?, BlobTrouble>)
    /// Answer to `read`.
    case read(DownloadKey, BlobTicket, Result<Data, BlobTrouble>)
    /// Time has passed.
    case timer
}

/// What the shell must do, in this order.
enum BlobServerEffect: Hashable, Sendable {
    /// `re` is the number of the frame it answers, else 0.
    case send(session: UInt64, re: UInt64, Message)
    /// Count a violation against the session's peer.
    case strike(session: UInt64, String)
    /// What is there of a blob that a session wants to send?
    case look(Digest, BlobTicket, size: UInt64)
    /// Write the next bytes; at most one write of a blob is under way.
    case write(Digest, BlobTicket, offset: UInt64, [Data])
    /// All bytes are written: check them, make them durable, give them their name.
    case seal(Digest, BlobTicket, size: UInt64)
    /// How long is a blob that a session wants to fetch?
    case find(DownloadKey, BlobTicket)
    case read(DownloadKey, BlobTicket, offset: UInt64, count: Int)
    /// A blob is stored; `received` of its bytes came over the wire since it was taken up.
    case note(Digest, size: UInt64, received: UInt64)
}
