internal import Files

/// Where the anchors of a file are, by their hash; of equal hashes the first place.
///
/// Memory: at most 50 MB, whatever the size of the file: a larger file has rarer anchors.
struct AnchorIndex {
    /// About one place in 2^`rarity` is an anchor.
    let rarity: Int
    private var hashes: [UInt32]
    /// 0 where there is none: an anchor has 32 bytes before it.
    private var places: [UInt64]
    private let shift: UInt32
    /// Anchors that are expected at most.
    private static let most: UInt64 = 1_500_000

    /// Reads the whole file.
    ///
    /// - Parameter progress: Called for each MiB.
    /// - Throws: `io`; what `progress` throws.
    init(of file: FileDescriptor, _ progress: () throws -> Void) throws {
        let rarity = (4..<31).first { file.size >> UInt64($0) <= Self.most } ?? 31
        let expected = min(Self.most, file.size >> UInt64(rarity))
        let bits: Int = (10...22).first { UInt64(1) << UInt64($0) >= 2 * expected } ?? 22
        self.rarity = rarity
        shift = UInt32(32 - bits)
        hashes = [UInt32](repeating: 0, count: 1 << bits)
        places = [UInt64](repeating: 0, count: 1 << bits)
        var (scanner, left) = (AnchorScanner(file, rarity: rarity), (1 << bits) / 4 * 3)
        while left > 0, let anchor = try scanner.next(progress) {
            let slot = slot(of: anchor.hash)
            guard places[slot] == 0 else { continue }
            (hashes[slot], places[slot]) = (anchor.hash, anchor.end)
            left -= 1
        }
    }

    /// The end of an anchor in the file; `nil` when none has the hash.
    subscript(_ hash: UInt32) -> UInt64? {
        let place = places[slot(of: hash)]
        return place > 0 ? place : nil
    }

    /// The slot that has the hash, or the free one where it would be; a quarter of the slots is always free.
    private func slot(of hash: UInt32) -> Int {
        var slot = Int((hash &* 0x85EB_CA6B) >> shift)
        while places[slot] != 0, hashes[slot] != hash { slot = (slot + 1) & (places.count - 1) }
        return slot
    }
}
