internal import Digests
internal import Foundation
internal import Wire

/// The rules of a worker's blob link: what to send, download, request again and restart.
///
/// Pure: no clock, no socket, no disk. A transfer ends when the coordinator ends it, when it is cancelled, or after
/// many refusals. While the coordinator is not reachable it waits.
struct BlobClientCore: Sendable {
    let policy: BlobClientPolicy
    /// In order of arrival, which is the order in which they start.
    var uploads: [Upload] = []
    var downloads: [Download] = []
    var effects: [BlobClientEffect] = []
    private var lastSeq: UInt64 = 0
    /// The time of the last message, of the last connection, or when there was nothing to wait for.
    private var lastHeard: Int64 = 0

    init(_ policy: BlobClientPolicy = BlobClientPolicy()) { self.policy = policy }

    /// The latest time for ``BlobClientEvent/tick``.
    var nextTick: Int64? {
        (uploads.filter { $0.phase != .waiting }.map(\.due) + downloads.filter { $0.phase != .waiting }.map(\.due))
            .min()
    }

    mutating func handle(_ event: BlobClientEvent, now: Int64) -> [BlobClientEffect] {
        if uploads.isEmpty && downloads.isEmpty { lastHeard = now }
        switch event {
        case .put(let id, let digest, let size): uploads.append(Upload(id: id, digest: digest, size: size))
        case .get(let id, let digest): downloads.append(Download(id: id, digest: digest, isQuestion: false))
        case .ask(let id, let digest): downloads.append(Download(id: id, digest: digest, isQuestion: true))
        case .cancel(let id): cancel(id)
        case .linked: resumeTransfers(now)
        case .message(let message, let re):
            lastHeard = now
            receive(message, answering: re, now: now)
        case .piece(let id, let offset, let data): sendPiece(of: id, offset: offset, data: data, now: now)
        case .wrote(let id, let count): finishWrite(of: id, count: count, now: now)
        case .tick: tick(now)
        }
        start(now)
        defer { effects = [] }
        return effects
    }

    private mutating func receive(_ message: Message, answering re: UInt64, now: Int64) {
        switch message {
        case .have(let body): updateUpload(body, answering: re, now: now)
        case .stored(let body):
            guard let index = upload(body.digest) else { return }
            end(uploads.remove(at: index).id, .stored)
        case .chunk(let body): receive(body, now)
        case .blobSize(let body): sized(body, now)
        case .blobRefused(let body): refused(body, now)
        // All other messages go in the other direction or to other peers.
        default: break
        }
    }

    /// Starts waiting transfers up to the limit, and only one per digest, because answers name only the digest.
    private mutating func start(_ now: Int64) {
        for index in uploads.indices where uploads[index].phase == .waiting {
            let active = uploads.filter { $0.phase != .waiting }
            guard active.count < BlobClientPolicy.transfers else { break }
            if !active.contains(where: { $0.digest == uploads[index].digest }) { beginUpload(index, now: now) }
        }
        for index in downloads.indices where downloads[index].phase == .waiting {
            let active = downloads.filter { $0.phase != .waiting }
            guard active.count < BlobClientPolicy.transfers else { break }
            if !active.contains(where: { $0.digest == downloads[index].digest }) { requestRest(of: index, now: now) }
        }
    }

    private mutating func resumeTransfers(_ now: Int64) {
        lastHeard = now
        for index in uploads.indices where uploads[index].phase != .waiting { beginUpload(index, now: now) }
        for index in downloads.indices where downloads[index].phase != .waiting { requestRest(of: index, now: now) }
    }

    private mutating func tick(_ now: Int64) {
        if now - lastHeard >= BlobClientPolicy.silence, !(uploads.isEmpty && downloads.isEmpty) {
            lastHeard = now
            effects.append(.reconnect)
        }
        for index in uploads.indices where uploads[index].phase != .waiting && now >= uploads[index].due {
            beginUpload(index, now: now)
        }
        for index in downloads.indices where downloads[index].phase != .waiting && now >= downloads[index].due {
            requestRest(of: index, now: now)
        }
    }

    private mutating func cancel(_ id: BlobTransferID) {
        guard uploads.contains(where: { $0.id == id }) || downloads.contains(where: { $0.id == id }) else { return }
        uploads.removeAll { $0.id == id }
        downloads.removeAll { $0.id == id }
        end(id, .cancelled)
    }

    /// A refusal names a digest.
    ///
    /// If the blob is both sent and downloaded, both transfers pause.
    private mutating func refused(_ body: PBBlobRefused, _ now: Int64) {
        let failure = BlobOutcome.failed(code: body.code, text: body.text)
        if let index = upload(body.digest) {
            uploads[index].refusals += 1
            if isFinal(body, uploads[index].refusals) {
                end(uploads.remove(at: index).id, failure)
            } else {
                uploads[index].phase = .beginning(since: lastSeq + 1)
                uploads[index].due = now + pause(uploads[index].refusals)
            }
        }
        if let index = download(body.digest) {
            downloads[index].refusals += 1
            if isFinal(body, downloads[index].refusals) {
                end(downloads.remove(at: index).id, failure)
            } else {
                downloads[index].due = now + pause(downloads[index].refusals)
            }
        }
    }

    private func pause(_ refusals: Int) -> Int64 { min(BlobClientPolicy.longestPause, 500 << Int64(min(refusals, 10))) }

    private func isFinal(_ body: PBBlobRefused, _ refusals: Int) -> Bool {
        !body.retriable || refusals >= (body.code == "digest-mismatch" ? 3 : BlobClientPolicy.maxRefusals)
    }

    // MARK: - Small steps

    func upload(_ digest: Data) -> Int? {
        uploads.firstIndex { $0.phase != .waiting && $0.digest == Digest(bytes: digest) }
    }

    func download(_ digest: Data) -> Int? {
        downloads.firstIndex { $0.phase != .waiting && $0.digest == Digest(bytes: digest) }
    }

    mutating func end(_ id: BlobTransferID, _ outcome: BlobOutcome) { effects.append(.end(id, outcome)) }

    /// Sends a message and returns the frame's number.
    @discardableResult
    mutating func send(_ message: Message) -> UInt64 {
        lastSeq += 1
        effects.append(.send(seq: lastSeq, message))
        return lastSeq
    }
}
