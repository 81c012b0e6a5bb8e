import Digests
internal import Files
import Foundation
import Shards
import Wire

extension BlobServerCore {
    /// A blob that is being sent to a session.
    ///
    /// acked ≤ next ≤ credit. Bytes between acked and next may be in memory.
    struct Download: Sendable {
        /// `nil` until the file operation returns it.
        var size: UInt64?
        var ticket: BlobTicket
        var next: UInt64
        var acked: UInt64
        var credit: UInt64
        /// Bytes that were requested from the disk.
        var reading: UInt64 = 0
        var heard: Int64
        var asked: UInt64

        var outstanding: UInt64 { next + reading - acked }
    }

    /// A session requests a blob from `offset` up to `credit`.
    ///
    /// Without credit it requests only the length.
    ///
    /// A repeated request that does not raise the credit means that frames were lost: sending resumes at its offset.
    mutating func get(_ key: DownloadKey, offset: UInt64, credit: UInt64, _ seq: UInt64, now: Int64) {
        guard offset <= credit || credit == 0 else {
            return strike(key.session, "a fetch from \(offset) with credit up to \(credit)")
        }
        guard var download = downloads[key] else {
            guard admitDownload(for: key.session) else {
                return refuse(key.digest, session: key.session, re: seq, trouble: .busy)
            }
            let ticket = ticket()
            downloads[key] = Download(
                ticket: ticket, next: offset, acked: offset, credit: credit, heard: now, asked: seq)
            effects.append(.find(key, ticket))
            return
        }
        download.heard = now
        download.asked = seq
        guard let size = download.size else {
            download.credit = max(download.credit, credit)
            downloads[key] = download
            return
        }
        if credit == 0 { return reportSize(of: key, size: size, re: seq) }
        guard offset <= size else {
            downloads[key] = nil
            return strike(key.session, "a fetch from \(offset) of a blob of \(size) bytes")
        }
        // The last request of the fetcher.
        if offset == size {
            downloads[key] = nil
            return
        }
        if credit > download.credit {
            download.acked = max(download.acked, min(offset, download.next))
        } else if credit == download.credit {
            // A read that is under way belongs to the old position and is ignored.
            download.ticket = ticket()
            download.reading = 0
            download.next = offset
            download.acked = offset
            reportSize(of: key, size: size, re: seq)
        }
        download.credit = max(download.credit, credit)
        downloads[key] = download
        startRead(key)
    }

    /// Whether another download may begin.
    ///
    /// Downloads that were sent completely and got no further request are removed first.
    private mutating func admitDownload(for session: UInt64) -> Bool {
        let own = downloads.filter { $0.key.session == session }
        if own.count >= BlobServerPolicy.transfersPerPeer {
            let over = own.filter { $0.value.next == $0.value.size }.min { $0.value.heard < $1.value.heard }
            guard let over else { return false }
            downloads[over.key] = nil
        }
        return downloads.count < BlobServerPolicy.maxTransfers
    }

    mutating func found(_ key: DownloadKey, ticket: BlobTicket, result: Result<UInt64?, BlobTrouble>) {
        guard var download = downloads[key], download.ticket == ticket, download.size == nil else { return }
        switch result {
        case .success(let size):
            reportSize(of: key, size: size, re: download.asked)
            guard let size, download.credit > 0, download.next < size else {
                downloads[key] = nil
                return
            }
            download.size = size
            downloads[key] = download
            startRead(key)
        case .failure(let trouble):
            downloads[key] = nil
            refuse(key.digest, session: key.session, re: download.asked, trouble: trouble)
        }
    }

    /// Starts the next read, one at a time.
    mutating func startRead(_ key: DownloadKey) {
        guard var download = downloads[key], let size = download.size, download.reading == 0 else { return }
        let wanted = min(size, download.credit)
        guard download.next < wanted else { return }
        var (ofPeer, ofAll) = (UInt64(0), UInt64(0))
        for (other, state) in downloads {
            ofAll += state.outstanding
            if other.session == key.session { ofPeer += state.outstanding }
        }
        let bytesLeft = min(
            policy.peerWindow - min(ofPeer, policy.peerWindow), policy.globalWindow - min(ofAll, policy.globalWindow))
        let count = min(policy.chunk, wanted - download.next, bytesLeft)
        // Only whole chunks or the last one: a small remaining credit is not worth a frame.
        guard count == min(policy.chunk, wanted - download.next) else {
            if !waitingDownloads.contains(key) { waitingDownloads.append(key) }
            return
        }
        download.reading = count
        downloads[key] = download
        effects.append(.read(key, download.ticket, offset: download.next, count: Int(count)))
    }

    mutating func read(_ key: DownloadKey, ticket: BlobTicket, result: Result<Data, BlobTrouble>) {
        guard var download = downloads[key], download.ticket == ticket, download.reading > 0 else { return }
        switch result {
        case .success(let data):
            send(
                key.session,
                .chunk(
                    .make {
                        $0.digest = Data(key.digest.bytes)
                        $0.offset = download.next
                        $0.data = data
                    }))
            download.reading = 0
            download.next += UInt64(data.count)
            downloads[key] = download
            startRead(key)
        case .failure(let trouble):
            downloads[key] = nil
            refuse(key.digest, session: key.session, trouble: trouble)
        }
    }

    private mutating func reportSize(of key: DownloadKey, size: UInt64?, re: UInt64) {
        send(
            key.session, re: re,
            .blobSize(
                .make {
                    $0.digest = Data(key.digest.bytes)
                    $0.size = size ?? 0
                    $0.found = size != nil
                }))
    }
}
