internal import Files
internal import Foundation

/// Finds the stretches of a new file that are in an old one too, in any order.
///
/// What is equal around equal anchors becomes a copy, if it is long enough. Shorter ones say what the literals are like.
struct StretchMatcher {
    private let old: FileDescriptor
    private let new: FileDescriptor
    /// Shorter copies are left to zstd, which stores them in fewer bytes than a step of the script, from the prefix of a section.
    static let shortestCopy: UInt64 = 512
    /// Literals are found in their prefix when they moved by less.
    private static let near: UInt64 = 65_536

    init(old: FileDescriptor, new: FileDescriptor) { (self.old, self.new) = (old, new) }

    /// Puts the copies into a writer, in the order of the new file.
    ///
    /// Reads the old file once, the new one at most twice.
    /// - Parameter progress: Called for each MiB.
    func run(into writer: inout CopyPatchWriter, _ progress: () throws -> Void) throws {
        let index = try AnchorIndex(of: old, progress)
        var scanner = AnchorScanner(new, rarity: index.rarity)
        let head = try equalAhead(of: 0, 0)
        if head >= Self.shortestCopy {
            try writer.copy(0, from: 0, count: head)
            scanner.skip(to: head)
        }
        var moved = Moves()
        // Equal bytes in a row have one hash at each place: only the first is looked up.
        var last: UInt32?
        while let anchor = try scanner.next(progress) {
            guard anchor.hash != last, let place = index[anchor.hash] else { continue }
            last = anchor.hash
            let behind = try equalBehind(anchor.end, place, most: min(anchor.end - writer.end, place))
            guard behind >= Anchor.window else { continue }
            let ahead = try equalAhead(of: anchor.end, place)
            let (start, source) = (anchor.end - behind, place - behind)
            if behind + ahead >= Self.shortestCopy {
                try writer.copy(start, from: source, count: behind + ahead)
                moved.copy(from: source, to: start)
                scanner.skip(to: anchor.end + ahead)
            } else if moved.isNews(from: source, to: start) {
                try writer.note(start, isNear: source)
            }
        }
    }

    /// How far stretches have moved in the file.
    private struct Moves {
        private var known: UInt64 = 0
        private var guess: UInt64?

        mutating func copy(from source: UInt64, to place: UInt64) { (known, guess) = (place &- source, nil) }

        /// Whether a short stretch is elsewhere than expected; the second one in a row that says the same counts.
        mutating func isNews(from source: UInt64, to place: UInt64) -> Bool {
            let distance = place &- source
            func isNear(_ other: UInt64) -> Bool { min(distance &- other, other &- distance) <= StretchMatcher.near }
            if isNear(known) {
                guess = nil
                return false
            }
            guard let guess, isNear(guess) else {
                guess = distance
                return false
            }
            (known, self.guess) = (distance, nil)
            return true
        }
    }

    /// How many bytes are equal from two places on.
    private func equalAhead(of place: UInt64, _ source: UInt64) throws -> UInt64 {
        var (done, step): (UInt64, UInt64) = (0, 4_096)
        while true {
            let count = min(step, new.size - place - done, old.size - source - done)
            guard count > 0 else { return done }
            let equal = Self.equalCount(
                try new.read(at: place + done, count: Int(count)), try old.read(at: source + done, count: Int(count)))
            done += UInt64(equal)
            guard equal == Int(count) else { return done }
            step = min(step * 4, CopyPatch.pieceSize)
        }
    }

    /// How many bytes before two places are equal, at most `most`.
    private func equalBehind(_ place: UInt64, _ source: UInt64, most: UInt64) throws -> UInt64 {
        var (done, step): (UInt64, UInt64) = (0, 1_024)
        while done < most {
            let count = min(step, most - done)
            let (left, right) = (
                try new.read(at: place - done - count, count: Int(count)),
                try old.read(at: source - done - count, count: Int(count))
            )
            let equal = Self.equalCount(left, right, fromEnd: true)
            done += UInt64(equal)
            guard equal == Int(count) else { return done }
            step = min(step * 4, CopyPatch.pieceSize)
        }
        return done
    }

    /// How many first bytes are equal, or last ones; both have the same number of bytes.
    private static func equalCount(_ left: [UInt8], _ right: [UInt8], fromEnd: Bool = false) -> Int {
        left.withUnsafeBytes { left in
            right.withUnsafeBytes { right in
                guard let one = left.baseAddress, let other = right.baseAddress else { return 0 }
                if memcmp(one, other, left.count) == 0 { return left.count }
                var equal = 0
                if fromEnd {
                    while left[left.count - 1 - equal] == right[left.count - 1 - equal] { equal += 1 }
                } else {
                    while left[equal] == right[equal] { equal += 1 }
                }
                return equal
            }
        }
    }
}
