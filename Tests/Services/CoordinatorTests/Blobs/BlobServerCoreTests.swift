import Blobs
import Digests
import Files
import Foundation
import Testing
import Wire

@testable import Coordinator

/// What the blob endpoint does with peers that do not keep to the rules, and with disks that do not answer as hoped.
struct BlobServerCoreTests {
    private static let bytes = Data((0..<4_000).map { UInt8(truncatingIfNeeded: $0) })
    private let digest = Digest(of: Self.bytes)

    private func core(_ change: (inout BlobServerPolicy) -> Void = { _ in }) -> BlobServerCore {
        var policy = BlobServerPolicy()
        policy.peerWindow = 1_000
        policy.globalWindow = 3_000
        policy.chunk = 100
        change(&policy)
        return BlobServerCore(policy)
    }

    private func begin(_ digest: Digest, size: UInt64 = 4_000) -> Message {
        .putBegin(
            .make {
                $0.digest = Data(digest.bytes)
                $0.size = size
            })
    }

    private func chunk(_ digest: Digest, _ offset: Int, _ data: Data) -> Message {
        .chunk(
            .make {
                $0.digest = Data(digest.bytes)
                $0.offset = UInt64(offset)
                $0.data = data
            })
    }

    private func get(_ digest: Digest, _ offset: UInt64, _ credit: UInt64) -> Message {
        .get(
            .make {
                $0.digest = Data(digest.bytes)
                $0.offset = offset
                $0.credit = credit
            })
    }

    /// Begins an upload and lets the disk answer.
    private func open(
        _ core: inout BlobServerCore, _ session: UInt64, _ digest: Digest, part: UInt64 = 0, size: UInt64 = 4_000,
        now: Int64 = 0
    ) -> [BlobServerEffect] {
        var answers: [BlobServerEffect] = []
        for effect in core.handle(.message(session: session, seq: 1, begin(digest, size: size)), now: now) {
            if case .look(let digest, let ticket, _) = effect {
                answers += core.handle(.looked(digest, ticket, .success(.part(part))), now: now)
            } else {
                answers.append(effect)
            }
        }
        return answers
    }

    private func have(_ effects: [BlobServerEffect]) -> PBHave? {
        for case .send(_, _, .have(let body)) in effects { return body }
        return nil
    }

    private func refusal(_ effects: [BlobServerEffect]) -> PBBlobRefused? {
        for case .send(_, _, .blobRefused(let body)) in effects { return body }
        return nil
    }

    private func isStruck(_ effects: [BlobServerEffect]) -> Bool {
        effects.contains { if case .strike = $0 { true } else { false } }
    }

    @Test func anUploadGoesOnBehindWhatIsOnDisk() {
        var core = core()
        let answer = have(open(&core, 1, digest, part: 2_500))
        #expect(answer?.offset == 2_500)
        #expect(answer?.credit == 3_500)
    }

    @Test func aWholeUploadIsStoredOnlyAfterTheDiskHasSaidSo() {
        var core = core()
        _ = open(&core, 1, digest, part: 3_900)
        var effects = core.handle(.message(session: 1, seq: 2, chunk(digest, 3_900, Self.bytes[3_900...])), now: 1)
        guard case .write(_, let ticket, 3_900, let pieces) = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(pieces.reduce(0) { $0 + $1.count } == 100)
        let end = Message.putEnd(.make { $0.digest = Data(digest.bytes) })
        #expect(core.handle(.message(session: 1, seq: 3, end), now: 2).isEmpty, "the write is under way")
        effects = core.handle(.wrote(digest, ticket, .success(100)), now: 3)
        guard case .seal(_, let seal, size: 4_000) = effects.last else {
            Issue.record("\(effects)")
            return
        }
        // Asked meanwhile: not stored yet.
        #expect(have(core.handle(.message(session: 1, seq: 4, begin(digest)), now: 4))?.offset == 4_000)
        effects = core.handle(.sealed(digest, seal, nil), now: 5)
        #expect(effects.contains { if case .send(1, _, .stored) = $0 { true } else { false } })
        #expect(core.uploads.isEmpty)
    }

    @Test func creditIsNeverMoreThanTheWindows() {
        var core = core()
        for session in 1...20 as ClosedRange<UInt64> {
            for number in 0..<12 {
                _ = open(&core, session, Digest(of: Array("\(session) \(number)".utf8)))
                let own = core.uploads.values.filter { $0.session == session }
                #expect(own.reduce(0) { $0 + $1.outstanding } <= 1_000)
                #expect(own.count <= BlobServerPolicy.transfersPerPeer)
                #expect(core.underWay.up <= 3_000)
            }
        }
        // Time frees what silent sessions held.
        _ = core.handle(.timer, now: core.policy.idle + 1)
        #expect(core.uploads.isEmpty)
    }

    @Test func theLastOneServedGetsCreditWhenOthersAreDone() {
        var core = core { $0.globalWindow = 1_000 }
        #expect(have(open(&core, 1, digest))?.credit == 1_000)
        let other = Digest(of: [9])
        #expect(have(open(&core, 2, other))?.credit == 0)
        let effects = core.handle(.timer, now: core.policy.idle + 1)
        #expect(effects.isEmpty, "both are silent and forgotten")
        #expect(have(open(&core, 2, other, now: 100_000))?.credit == 1_000)
    }

    @Test func chunksBeyondTheCreditAreDroppedAndTheirSenderStruck() {
        var core = core()
        _ = open(&core, 1, digest)
        for number in 0...BlobServerPolicy.maxExcess {
            let effects = core.handle(
                .message(session: 1, seq: 2, chunk(digest, 900, Self.bytes[900..<1_100])), now: 1)
            #expect(isStruck(effects) == (number == BlobServerPolicy.maxExcess))
            #expect(!effects.contains { if case .write = $0 { true } else { false } })
        }
        #expect(core.uploads.isEmpty)
    }

    @Test func aChunkBeyondTheBlobOrWithoutBytesIsStruckAtOnce() {
        for data in [Self.bytes[0..<10], Data()] {
            var core = core()
            _ = open(&core, 1, digest)
            #expect(isStruck(core.handle(.message(session: 1, seq: 2, chunk(digest, 3_995, data)), now: 1)))
            #expect(core.uploads.isEmpty)
        }
    }

    @Test func repeatedAndOverlappingChunksChangeNothing() {
        var core = core()
        _ = open(&core, 1, digest)
        var pieces: [Data] = []
        var write: (BlobTicket, UInt64)?
        for (from, to) in [(0, 100), (0, 100), (50, 150), (200, 300), (120, 130), (150, 200)] {
            for effect in core.handle(.message(session: 1, seq: 2, chunk(digest, from, Self.bytes[from..<to])), now: 1)
            {
                if case .write(_, let ticket, let offset, let data) = effect {
                    pieces += data
                    write = (ticket, offset)
                }
            }
        }
        for effect in core.handle(.wrote(digest, write?.0 ?? 0, .success(100)), now: 2) {
            if case .write(_, _, _, let data) = effect { pieces += data }
        }
        #expect(Data(pieces.joined()) == Self.bytes[0..<200])
        #expect(core.uploads[digest]?.received == 200)
    }

    @Test func wrongBytesAreStruckUnlessAnEarlierProcessLeftThem() {
        for part in [0, 3_999] as [UInt64] {
            var core = core {
                $0.peerWindow = 10_000
                $0.globalWindow = 10_000
            }
            _ = open(&core, 1, digest, part: part)
            var effects = core.handle(
                .message(session: 1, seq: 2, chunk(digest, Int(part), Data(count: 4_000 - Int(part)))), now: 1)
            guard case .write(_, let ticket, _, _) = effects.first else {
                Issue.record("\(effects)")
                return
            }
            _ = core.handle(.wrote(digest, ticket, .success(4_000 - part)), now: 1)
            effects = core.handle(
                .message(session: 1, seq: 3, .putEnd(.make { $0.digest = Data(digest.bytes) })), now: 1)
            guard case .seal(_, let seal, _) = effects.first else {
                Issue.record("\(effects)")
                return
            }
            let trouble = BlobTrouble(code: "digest-mismatch", text: "wrong", isRetriable: true)
            effects = core.handle(.sealed(digest, seal, trouble), now: 1)
            #expect(isStruck(effects) == (part == 0))
            #expect(refusal(effects)?.retriable == true)
            #expect(core.uploads.isEmpty)
        }
    }

    @Test func aFullDiskIsToldAndMayHeal() {
        var core = core()
        let trouble = BlobTrouble(code: "disk-full", text: "no space", isRetriable: true)
        guard case .look(_, let ticket, _) = core.handle(.message(session: 1, seq: 9, begin(digest)), now: 0).first
        else { return }
        let refused = refusal(core.handle(.looked(digest, ticket, .failure(trouble)), now: 1))
        #expect(refused?.code == "disk-full")
        #expect(refused?.retriable == true)
        #expect(core.uploads.isEmpty)
    }

    @Test func anotherSessionGoesOnOnlyWhenTheFirstIsSilent() {
        var core = core()
        _ = open(&core, 1, digest)
        #expect(refusal(open(&core, 2, digest, now: 5_000))?.code == "busy")
        #expect(have(open(&core, 2, digest, part: 700, now: 20_000))?.offset == 700)
        #expect(core.uploads[digest]?.session == 2)
    }

    @Test func aSizeNoBlobHasIsRefusedForGood() {
        var core = core()
        for size in [0, UInt64.max] {
            let effects = core.handle(.message(session: 1, seq: 1, begin(digest, size: size)), now: 0)
            #expect(refusal(effects)?.retriable == false)
            #expect(isStruck(effects))
        }
    }

    @Test func nobodyIsSentMoreThanTheWindowBeyondWhatArrived() {
        var core = core()
        var chunks = 0
        var effects = core.handle(.message(session: 1, seq: 1, get(digest, 0, .max)), now: 0)
        for _ in 0..<1_000 {
            guard let effect = effects.first else { break }
            effects.removeFirst()
            switch effect {
            case .find(let key, let ticket): effects += core.handle(.found(key, ticket, .success(4_000)), now: 1)
            case .read(let key, let ticket, _, let count):
                effects += core.handle(.read(key, ticket, .success(Data(count: count))), now: 1)
            case .send(_, _, .chunk): chunks += 1
            default: break
            }
            #expect(core.underWay.down <= 1_000)
        }
        #expect(chunks == 10)
    }

    @Test func aFetchBeyondTheBlobOrWithoutSenseIsStruck() {
        var core = core()
        #expect(isStruck(core.handle(.message(session: 1, seq: 1, get(digest, 10, 5)), now: 0)))
        guard
            case .find(let key, let ticket) = core.handle(.message(session: 1, seq: 1, get(digest, 0, 10)), now: 0)
                .first
        else { return }
        _ = core.handle(.found(key, ticket, .success(4_000)), now: 0)
        #expect(isStruck(core.handle(.message(session: 1, seq: 1, get(digest, 5_000, 6_000)), now: 0)))
        #expect(core.downloads.isEmpty)
        #expect(isStruck(core.handle(.message(session: 1, seq: 1, .ping(PBPing())), now: 0)))
    }
}
