import Blobs
import Digests
import Foundation
import Wire

/// Limits and intervals of the blob server.
///
/// Times are milliseconds, sizes bytes.
struct BlobServerPolicy: Hashable, Sendable {
    /// Bytes that one session may have under way in each direction.
    var peerWindow: UInt64 = 8 << 20
    /// Bytes that all sessions together may have under way in each direction.
    ///
    /// This bounds the memory of the server.
    var globalWindow: UInt64 = 256 << 20
    /// Blobs that one session may send at the same time.
    ///
    /// The same number may be fetched.
    static let transfersPerPeer = 8
    /// Blobs that all sessions may send at the same time.
    ///
    /// The same number may be fetched.
    static let maxTransfers = 1_024
    /// Largest blob.
    static let maxBytes: UInt64 = 1 << 40
    /// Size of a sent chunk in bytes.
    var chunk: UInt64 = 512 << 10
    /// A transfer is forgotten when its session was silent this long.
    ///
    /// The received part of a blob stays on disk.
    var idle: Int64 = 60_000
    /// Another session may continue an upload whose session was silent this long.
    static let takeover: Int64 = 10_000
    /// Chunks beyond the credit that one upload may bring: those that were under way when the upload resumed.
    static let maxExcess = 64
}

/// Why a transfer cannot continue, as text for the wire.
struct BlobTrouble: Error, Hashable, Sendable {
    let code: String
    let text: String
    let isRetriable: Bool

    static let busy = BlobTrouble(
        code: "busy", text: "Too many blobs are being transferred. Retry later.", isRetriable: true)
}

/// A number for each request to the disk, so that outdated results can be recognised.
typealias BlobTicket = UInt64

/// The download of one blob by one session.
struct DownloadKey: Hashable, Sendable {
    let session: UInt64
    let digest: Digest
}

/// The inputs of the blob server.
enum BlobServerEvent: Sendable {
    /// A message of a session; `seq` is the number of the frame.
    case message(session: UInt64, seq: UInt64, Message)
    /// Result of `look`.
    case looked(Digest, BlobTicket, Result<PartialBlobs.Found, BlobTrouble>)
    /// Result of `write`.
    case wrote(Digest, BlobTicket, Result<UInt64, BlobTrouble>)
    /// Result of `seal`.
    case sealed(Digest, BlobTicket, BlobTrouble?)
    /// Result of `find`.
    case found(DownloadKey, BlobTicket, Result<UInt64?, BlobTrouble>)
    /// Result of `read`.
    case read(DownloadKey, BlobTicket, Result<Data, BlobTrouble>)
    /// Time has passed.
    case timer
}

/// What the caller must do, in this order.
enum BlobServerEffect: Hashable, Sendable {
    /// `re` is the number of the frame that this message answers, else 0.
    case send(session: UInt64, re: UInt64, Message)
    /// Count a violation against the session's peer.
    case strike(session: UInt64, String)
    /// Look up how much of a blob that a session wants to send is stored.
    case look(Digest, BlobTicket, size: UInt64)
    /// Write the next bytes; at most one write of a blob is under way.
    case write(Digest, BlobTicket, offset: UInt64, [Data])
    /// All bytes are written: check them, make them durable, and give the file its final name.
    case seal(Digest, BlobTicket, size: UInt64)
    /// Look up the length of a blob that a session wants to fetch.
    case find(DownloadKey, BlobTicket)
    case read(DownloadKey, BlobTicket, offset: UInt64, count: Int)
    /// A blob is stored. `received` of its bytes came over the wire since the upload started or resumed.
    case stored(Digest, size: UInt64, received: UInt64)
}
