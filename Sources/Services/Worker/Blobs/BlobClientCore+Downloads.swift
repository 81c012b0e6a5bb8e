internal import Digests
internal import Foundation
internal import Wire

extension BlobClientCore {
    /// A blob that is being downloaded, or only a request for its size.
    struct Download: Sendable {
        enum Phase: Hashable, Sendable {
            /// Waits for other transfers.
            case waiting
            case asking
            case receiving(size: UInt64)
        }
        let id: BlobTransferID
        let digest: Digest
        let isQuestion: Bool
        var phase = Phase.waiting
        var received: UInt64 = 0
        var written: UInt64 = 0
        var credit: UInt64 = 0
        var queue: [Data] = []
        var isWriting = false
        var refusals = 0
        var due: Int64 = 0
    }

    /// Requests the rest.
    ///
    /// A repeated credit makes the coordinator resume at our offset.
    mutating func requestRest(of index: Int, now: Int64) {
        let download = downloads[index]
        if download.phase == .waiting { downloads[index].phase = .asking }
        if !download.isQuestion { downloads[index].credit = max(download.credit, download.written + policy.window) }
        request(downloads[index])
        if case .receiving = download.phase {
            downloads[index].due = now + BlobClientPolicy.stall
        } else {
            downloads[index].due = now + BlobClientPolicy.retry
        }
    }

    private mutating func request(_ download: Download) {
        send(
            .get(
                .make {
                    $0.digest = Data(download.digest.bytes)
                    $0.offset = download.received
                    $0.credit = download.credit
                }))
    }

    mutating func sized(_ body: PBBlobSize, _ now: Int64) {
        guard let index = download(body.digest) else { return }
        let download = downloads[index]
        guard body.found else {
            downloads.remove(at: index)
            return end(download.id, .absent)
        }
        if download.isQuestion || body.size == 0 {
            downloads.remove(at: index)
            return end(download.id, download.isQuestion ? .size(body.size) : .absent)
        }
        if case .receiving(let size) = download.phase, size != body.size {
            downloads.remove(at: index)
            return end(download.id, .failed(code: "io", text: "A blob had \(size) bytes and now has \(body.size)."))
        }
        downloads[index].phase = .receiving(size: body.size)
        downloads[index].due = now + BlobClientPolicy.stall
    }

    mutating func receive(_ body: PBChunk, _ now: Int64) {
        guard let index = download(body.digest), case .receiving(let size) = downloads[index].phase else { return }
        let received = downloads[index].received
        let end = body.offset + UInt64(body.data.count)  // The wire decoder refuses an overflowing offset.
        guard body.offset <= received, end > received, end <= min(size, downloads[index].credit) else { return }
        downloads[index].queue.append(body.data.dropFirst(Int(received - body.offset)))
        downloads[index].received = end
        downloads[index].refusals = 0
        downloads[index].due = now + BlobClientPolicy.stall
        write(index)
    }

    /// Starts the next write.
    ///
    /// Only one runs at a time.
    private mutating func write(_ index: Int) {
        let download = downloads[index]
        guard !download.isWriting, !download.queue.isEmpty else { return }
        downloads[index].isWriting = true
        downloads[index].queue = []
        effects.append(.write(download.id, offset: download.written, download.queue))
    }

    mutating func finishWrite(of id: BlobTransferID, count: UInt64?, now: Int64) {
        guard let index = downloads.firstIndex(where: { $0.id == id }) else { return }
        downloads[index].isWriting = false
        guard let count else {
            downloads.remove(at: index)
            return end(id, .failed(code: "disk-full", text: "The blob cannot be written here."))
        }
        downloads[index].written += count
        guard case .receiving(let size) = downloads[index].phase else { return }
        if downloads[index].written == size {
            downloads[index].credit = size
            request(downloads[index])  // The last request: the coordinator can forget this download.
            downloads.remove(at: index)
            return end(id, .fetched)
        }
        write(index)
        let credit = min(size, downloads[index].written + policy.window)
        guard credit > downloads[index].credit,
            credit - downloads[index].credit >= policy.window / 4 || credit == size
        else { return }
        downloads[index].credit = credit
        request(downloads[index])
    }
}
