import Digests
import Foundation
import Wire

/// The rules of the blob endpoint: which session may send or fetch how much of which blob, and when a blob counts as
/// stored.
///
/// Pure: no clock, no socket, no disk. Memory is bounded whatever peers send: bytes beyond the granted credit are
/// dropped.
/// Lost, repeated and reordered messages only cost time, because offsets and credit are absolute.
struct BlobServerCore: Sendable {
    let policy: BlobServerPolicy
    var uploads: [Digest: Upload] = [:]
    var downloads: [DownloadKey: Download] = [:]
    /// Uploads that wait for more credit, in order of arrival.
    ///
    /// The next property is the same for downloads.
    var waitingUploads: [Digest] = []
    var waitingDownloads: [DownloadKey] = []
    var effects: [BlobServerEffect] = []
    private var lastTicket: BlobTicket = 0

    init(_ policy: BlobServerPolicy = BlobServerPolicy()) { self.policy = policy }

    /// Whether the session has a transfer under way.
    func knows(_ session: UInt64) -> Bool {
        uploads.values.contains { $0.session == session } || downloads.keys.contains { $0.session == session }
    }

    /// Bytes that uploads may still bring into memory, and bytes of downloads that are not acknowledged.
    var underWay: (up: UInt64, down: UInt64) {
        (
            uploads.values.reduce(0) { $0 + $1.outstanding },
            downloads.values.reduce(0) { $0 + $1.outstanding }
        )
    }

    mutating func handle(_ event: BlobServerEvent, now: Int64) -> [BlobServerEffect] {
        switch event {
        case .message(let session, let seq, let message): receive(session, seq: seq, message: message, now: now)
        case .looked(let digest, let ticket, let result): looked(digest, ticket: ticket, result: result)
        case .wrote(let digest, let ticket, let result): wrote(digest, ticket: ticket, result: result)
        case .sealed(let digest, let ticket, let trouble): sealed(digest, ticket: ticket, trouble: trouble)
        case .found(let key, let ticket, let result): found(key, ticket: ticket, result: result)
        case .read(let key, let ticket, let result): read(key, ticket: ticket, result: result)
        case .timer: expireIdleTransfers(now: now)
        }
        grantFreedCredit()
        defer { effects = [] }
        return effects
    }

    private mutating func receive(_ session: UInt64, seq: UInt64, message: Message, now: Int64) {
        switch message {
        case .putBegin(let body):
            guard let digest = Digest(bytes: body.digest) else { return }
            begin(digest, session: session, size: body.size, seq: seq, now: now)
        case .chunk(let body):
            guard let digest = Digest(bytes: body.digest) else { return }
            receiveChunk(digest, session: session, offset: body.offset, data: body.data, seq: seq, now: now)
        case .putEnd(let body):
            guard let digest = Digest(bytes: body.digest) else { return }
            end(digest, session: session, seq: seq, now: now)
        case .get(let body):
            guard let digest = Digest(bytes: body.digest) else { return }
            get(DownloadKey(session: session, digest: digest), offset: body.offset, credit: body.credit, seq, now: now)
        default: strike(session, "a \(message.type) message does not belong on the blob endpoint")
        }
    }

    private mutating func expireIdleTransfers(now: Int64) {
        for (digest, upload) in uploads.sorted(by: { $0.value.ticket < $1.value.ticket })
        where now - upload.heard > policy.idle && upload.phase == .receiving {
            close(digest)
        }
        for (key, download) in downloads where now - download.heard > policy.idle { downloads[key] = nil }
    }

    /// Gives freed credit to the transfers that wait for it.
    private mutating func grantFreedCredit() {
        let uploading = waitingUploads
        waitingUploads = []
        for digest in uploading { grant(digest) }
        let downloading = waitingDownloads
        waitingDownloads = []
        for key in downloading { startRead(key) }
    }

    // MARK: - Small steps

    mutating func ticket() -> BlobTicket {
        lastTicket += 1
        return lastTicket
    }

    mutating func send(_ session: UInt64, re: UInt64 = 0, _ message: Message) {
        effects.append(.send(session: session, re: re, message))
    }

    mutating func strike(_ session: UInt64, _ why: String) { effects.append(.strike(session: session, why)) }

    mutating func refuse(_ digest: Digest, session: UInt64, re: UInt64 = 0, trouble: BlobTrouble) {
        send(
            session, re: re,
            .blobRefused(
                .make {
                    $0.digest = Data(digest.bytes)
                    $0.code = trouble.code
                    $0.text = String(trouble.text.prefix(500))
                    $0.retriable = trouble.isRetriable
                }))
    }
}
