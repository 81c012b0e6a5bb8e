internal import Digests
internal import Foundation
internal import Wire

extension BlobClientCore {
    /// A file that is being sent to the coordinator.
    struct Upload: Sendable {
        enum Phase: Hashable, Sendable {
            /// Waits for other transfers.
            case waiting
            /// The coordinator was asked how much it has, in the frame `since` or a later one. Nothing is sent before
            /// the answer.
            case beginning(since: UInt64)
            case sending
            /// Everything is sent.
            case ending
        }
        let id: BlobTransferID
        let digest: Digest
        let size: UInt64
        var phase = Phase.waiting
        var sent: UInt64 = 0
        var credit: UInt64 = 0
        var acked: UInt64 = 0
        var isReading = false
        var refusals = 0
        var due: Int64 = 0
    }

    mutating func beginUpload(_ index: Int, now: Int64) {
        let (digest, size) = (uploads[index].digest, uploads[index].size)
        let seq = send(
            .putBegin(
                .make {
                    $0.digest = Data(digest.bytes)
                    $0.size = size
                }))
        // An answer to the first of several requests counts as well: it arrived after everything that was sent before.
        if case .beginning = uploads[index].phase {} else { uploads[index].phase = .beginning(since: seq) }
        uploads[index].due = now + BlobClientPolicy.retry
    }

    mutating func updateUpload(_ body: PBHave, answering re: UInt64, now: Int64) {
        guard let index = upload(body.digest), body.offset <= uploads[index].size else { return }
        let size = uploads[index].size
        let credit = min(body.credit, size)
        if case .beginning(let since) = uploads[index].phase {
            guard re >= since else { return }
            uploads[index].phase = .sending
            uploads[index].sent = body.offset
            uploads[index].credit = credit
            uploads[index].due = now + BlobClientPolicy.stall
        } else if body.offset > uploads[index].acked {
            uploads[index].due = now + BlobClientPolicy.stall
        }
        if body.offset > uploads[index].acked {
            uploads[index].refusals = 0
            effects.append(.moved(uploads[index].id))
        }
        uploads[index].acked = max(uploads[index].acked, body.offset)
        uploads[index].credit = max(uploads[index].credit, credit)
        advance(index, now)
    }

    /// Reads and sends one piece after the other, as far as the credit allows.
    private mutating func advance(_ index: Int, _ now: Int64) {
        let upload = uploads[index]
        guard upload.phase == .sending else { return }
        if upload.sent == upload.size {
            uploads[index].phase = .ending
            uploads[index].due = now + BlobClientPolicy.retry
            send(.putEnd(.make { $0.digest = Data(upload.digest.bytes) }))
        } else if !upload.isReading, upload.sent < upload.credit {
            uploads[index].isReading = true
            let count = min(policy.chunk, upload.credit - upload.sent)
            effects.append(.read(upload.id, offset: upload.sent, count: Int(count)))
        }
    }

    mutating func sendPiece(of id: BlobTransferID, offset: UInt64, data: Data?, now: Int64) {
        guard let index = uploads.firstIndex(where: { $0.id == id }) else { return }
        uploads[index].isReading = false
        guard let data else {
            uploads.remove(at: index)
            return end(id, .failed(code: "io", text: "The local file cannot be read."))
        }
        let upload = uploads[index]
        // A piece that was read before the offset changed is not used.
        if upload.phase == .sending, offset == upload.sent, upload.sent + UInt64(data.count) <= upload.credit {
            uploads[index].sent += UInt64(data.count)
            send(
                .chunk(
                    .make {
                        $0.digest = Data(upload.digest.bytes)
                        $0.offset = offset
                        $0.data = data
                    }))
        }
        advance(index, now)
    }
}
