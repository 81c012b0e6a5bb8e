import Digests
import Scheduling

/// The folder of blobs: what was not flushed is lost or torn when the power goes, files vanish and rot.
struct SimBlobs {
    struct Blob {
        let content: SimContent
        /// When it is durable on the disk; later than its write only for a store that does not flush.
        let flushedAt: Int64
        let written: Int64
        var isDamaged = false
    }

    private(set) var blobs: [Digest: Blob] = [:]
    /// In the order of their writing: random choices must not depend on hash order.
    private(set) var order: [Digest] = []
    /// Everything that was ever written, for the checker.
    private(set) var archive: [Digest: SimContent] = [:]
    /// Blobs that a fault took, which no rule can be blamed for.
    private(set) var taken: Set<Digest> = []

    subscript(digest: Digest) -> Blob? { blobs[digest] }

    /// Stores a blob; an existing blob is kept unless it is detectably damaged.
    mutating func put(_ content: SimContent, now: Int64, flush: Int64) -> Digest {
        let digest = content.digest
        archive[digest] = content
        if let held = blobs[digest], !held.isDamaged { return digest }
        if blobs[digest] == nil { order.append(digest) }
        blobs[digest] = Blob(content: content, flushedAt: now + flush, written: now)
        taken.remove(digest)
        return digest
    }

    mutating func remove(_ digest: Digest) {
        if blobs.removeValue(forKey: digest) != nil { order.removeAll { $0 == digest } }
    }

    mutating func lose(_ digest: Digest) {
        remove(digest)
        taken.insert(digest)
    }

    mutating func damage(_ digest: Digest) { blobs[digest]?.isDamaged = true }

    /// The power goes: what is not flushed is gone, or there with wrong bytes.
    mutating func cutPower(now: Int64, random: inout SeededRandom) {
        for digest in order where (blobs[digest]?.flushedAt ?? 0) > now {
            if random.perMille(500) { remove(digest) } else { damage(digest) }
        }
    }
}
