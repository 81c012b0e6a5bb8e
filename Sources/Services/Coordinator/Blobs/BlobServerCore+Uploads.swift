import Blobs
import Digests
import Foundation
import Wire

extension BlobServerCore {
    /// A blob that a session is sending.
    ///
    /// written ≤ received ≤ credit ≤ size. Bytes between written and credit may be in memory.
    struct Upload: Sendable {
        enum Phase: Sendable {
            case looking
            case receiving
            /// The digest is being checked and the file is being made durable.
            case sealing
            /// The upload was given up. It is kept only until a running write ends.
            case closing
        }
        var session: UInt64
        let size: UInt64
        let ticket: BlobTicket
        var phase = Phase.looking
        var received: UInt64 = 0
        var written: UInt64 = 0
        var credit: UInt64 = 0
        var queue: [Data] = []
        var isWriting = false
        /// Whether the sender has reported the end of its data.
        var isEnded = false
        /// The offset at which the upload started or resumed.
        var start: UInt64 = 0
        var excess = 0
        var heard: Int64
        /// The frame that requested the upload.
        ///
        /// It is answered when the file operation returns.
        var asked: UInt64

        var outstanding: UInt64 { credit - written }
    }

    /// A session offers a blob, or asks how much of it has arrived.
    mutating func begin(_ digest: Digest, session: UInt64, size: UInt64, seq: UInt64, now: Int64) {
        guard 1...BlobServerPolicy.maxBytes ~= size else {
            strike(session, "a blob of \(size) bytes")
            return refuse(
                digest, session: session, re: seq,
                trouble: BlobTrouble(code: "bad-size", text: "\(size) bytes", isRetriable: false))
        }
        guard var upload = uploads[digest] else {
            return open(digest, session: session, size: size, seq: seq, now: now)
        }
        if upload.session != session || upload.size != size {
            // Two sessions can produce the same bytes: the second one finds the blob stored. An upload whose session is
            // silent can be continued by another session.
            let mayReplace = upload.session == session || now - upload.heard >= BlobServerPolicy.takeover
            guard mayReplace, upload.phase == .receiving, !upload.isWriting else {
                return refuse(digest, session: session, re: seq, trouble: .busy)
            }
            uploads[digest] = nil
            return open(digest, session: session, size: size, seq: seq, now: now)
        }
        upload.heard = now
        upload.asked = seq
        uploads[digest] = upload
        switch upload.phase {
        case .looking: break
        case .receiving, .sealing: reportUpload(digest, re: seq)
        case .closing: refuse(digest, session: session, re: seq, trouble: .busy)
        }
    }

    private mutating func open(_ digest: Digest, session: UInt64, size: UInt64, seq: UInt64, now: Int64) {
        let own = uploads.values.count { $0.session == session }
        guard own < BlobServerPolicy.transfersPerPeer, uploads.count < BlobServerPolicy.maxTransfers else {
            return refuse(digest, session: session, re: seq, trouble: .busy)
        }
        let upload = Upload(session: session, size: size, ticket: ticket(), heard: now, asked: seq)
        uploads[digest] = upload
        effects.append(.look(digest, upload.ticket, size: size))
    }

    mutating func looked(_ digest: Digest, ticket: BlobTicket, result: Result<PartialBlobs.Found, BlobTrouble>) {
        guard var upload = uploads[digest], upload.ticket == ticket, upload.phase == .looking else { return }
        switch result {
        case .success(.stored): finish(digest, upload)
        case .success(.part(let length)):
            upload.phase = .receiving
            upload.start = min(length, upload.size)
            upload.received = upload.start
            upload.written = upload.start
            upload.credit = upload.start
            uploads[digest] = upload
            grant(digest, re: upload.asked)
            // Also sent without credit: the sender must know at which offset to continue.
            if uploads[digest]?.credit == upload.start { reportUpload(digest, re: upload.asked) }
        case .failure(let trouble):
            uploads[digest] = nil
            refuse(digest, session: upload.session, re: upload.asked, trouble: trouble)
        }
    }

    mutating func receiveChunk(
        _ digest: Digest, session: UInt64, offset: UInt64, data: Data, seq: UInt64, now: Int64
    ) {
        // Chunks of an upload that has ended or has not started follow from lost messages. The sender will ask.
        guard var upload = uploads[digest], upload.session == session, upload.phase == .receiving else { return }
        let (end, overflow) = offset.addingReportingOverflow(UInt64(data.count))
        guard !overflow, !data.isEmpty, end <= upload.size else {
            strike(session, "a chunk at \(offset) of \(data.count) bytes in a blob of \(upload.size)")
            return close(digest)
        }
        upload.heard = now
        guard end <= upload.credit else {
            upload.excess += 1
            uploads[digest] = upload
            if upload.excess > BlobServerPolicy.maxExcess {
                strike(session, "chunks beyond the credit")
                close(digest)
            }
            return
        }
        let isNews = offset <= upload.received && end > upload.received
        if isNews {
            upload.queue.append(data.dropFirst(Int(upload.received - offset)))
            upload.received = end
        }
        uploads[digest] = upload
        if isNews { write(digest) } else { reportUpload(digest, re: seq) }
    }

    /// Starts the next write.
    ///
    /// Only one runs at a time, so that the file is always a prefix of the blob.
    private mutating func write(_ digest: Digest) {
        guard var upload = uploads[digest], !upload.isWriting, !upload.queue.isEmpty else { return }
        effects.append(.write(digest, upload.ticket, offset: upload.written, upload.queue))
        upload.queue = []
        upload.isWriting = true
        uploads[digest] = upload
    }

    mutating func wrote(_ digest: Digest, ticket: BlobTicket, result: Result<UInt64, BlobTrouble>) {
        guard var upload = uploads[digest], upload.ticket == ticket else { return }
        upload.isWriting = false
        switch result {
        case .success(let count):
            upload.written = min(upload.written + count, upload.received)
            uploads[digest] = upload
            guard upload.phase != .closing else {
                uploads[digest] = nil
                return
            }
            write(digest)
            grant(digest)
            seal(digest)
        case .failure(let trouble):
            uploads[digest] = nil
            if upload.phase != .closing { refuse(digest, session: upload.session, trouble: trouble) }
        }
    }

    mutating func end(_ digest: Digest, session: UInt64, seq: UInt64, now: Int64) {
        guard var upload = uploads[digest], upload.session == session else { return }
        upload.heard = now
        if upload.phase == .receiving { upload.isEnded = upload.received == upload.size }
        uploads[digest] = upload
        guard upload.isEnded, upload.phase == .receiving else { return }
        seal(digest)
    }

    private mutating func seal(_ digest: Digest) {
        guard var upload = uploads[digest], upload.isEnded, upload.phase == .receiving, !upload.isWriting,
            upload.written == upload.size
        else { return }
        upload.phase = .sealing
        uploads[digest] = upload
        effects.append(.seal(digest, upload.ticket, size: upload.size))
    }

    mutating func sealed(_ digest: Digest, ticket: BlobTicket, trouble: BlobTrouble?) {
        guard let upload = uploads[digest], upload.ticket == ticket, upload.phase == .sealing else { return }
        guard let trouble else {
            effects.append(.stored(digest, size: upload.size, received: upload.size - upload.start))
            return finish(digest, upload)
        }
        uploads[digest] = nil
        // Data of an earlier process may have been damaged by a power failure. Only a session that sent the whole blob
        // counts as the cause.
        if trouble.code == "digest-mismatch", upload.start == 0 { strike(upload.session, trouble.text) }
        refuse(digest, session: upload.session, trouble: trouble)
    }

    private mutating func finish(_ digest: Digest, _ upload: Upload) {
        uploads[digest] = nil
        send(
            upload.session, re: upload.asked,
            .stored(
                .make {
                    $0.digest = Data(digest.bytes)
                    $0.size = upload.size
                }))
    }

    /// Gives an upload up.
    ///
    /// The data on disk stays for a later attempt.
    mutating func close(_ digest: Digest) {
        guard var upload = uploads[digest], upload.phase != .sealing else { return }
        guard upload.isWriting else {
            uploads[digest] = nil
            return
        }
        upload.phase = .closing
        upload.queue = []
        uploads[digest] = upload
    }

    // MARK: - Credit

    /// Raises an upload's credit as far as the window of its session and the global window allow.
    mutating func grant(_ digest: Digest, re: UInt64 = 0) {
        guard var upload = uploads[digest], upload.phase == .receiving, upload.credit < upload.size else { return }
        var (ofPeer, ofAll, count) = (UInt64(0), UInt64(0), UInt64(0))
        for other in uploads.values {
            ofAll += other.outstanding
            guard other.session == upload.session else { continue }
            ofPeer += other.outstanding
            count += 1
        }
        // Each upload of a session gets a share of the session's window, so that no upload waits for the end of
        // another.
        let share = max(policy.peerWindow / max(count, 1), min(policy.peerWindow, 1 << 20))
        let wanted = min(upload.size, upload.written + share)
        let bytesLeft = min(
            policy.peerWindow - min(ofPeer, policy.peerWindow), policy.globalWindow - min(ofAll, policy.globalWindow))
        let credit = min(wanted, upload.credit + bytesLeft)
        if credit < wanted, !waitingUploads.contains(digest) { waitingUploads.append(digest) }
        // Small raises are delayed, unless the sender has no other credit.
        guard credit > upload.credit,
            credit - upload.credit >= share / 4 || credit == upload.size || upload.credit == upload.written
        else { return }
        upload.credit = credit
        uploads[digest] = upload
        reportUpload(digest, re: re)
    }

    private mutating func reportUpload(_ digest: Digest, re: UInt64) {
        guard let upload = uploads[digest] else { return }
        send(
            upload.session, re: re,
            .have(
                .make {
                    $0.digest = Data(digest.bytes)
                    $0.offset = upload.received
                    $0.credit = upload.credit
                }))
    }
}
