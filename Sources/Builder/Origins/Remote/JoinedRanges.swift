/// Ranges of a file, joined into few requests that fetch little more than what is wanted.
enum JoinedRanges {
    /// Longer gaps are never included: on most connections their transfer takes longer than another request.
    static let longestGap: UInt64 = 64 << 10

    /// What one request fetches.
    struct Part: Sendable, Hashable {
        /// The bytes to ask for.
        var range: Range<UInt64>
        /// Which of the wanted ranges lie in it, ascending.
        var pieces: Range<Int>
    }

    /// Joins ranges across the smallest gaps first, as long as the allowance lasts.
    ///
    /// A range longer than `most` is a part of its own; otherwise no part is longer than `most`. Cost: a sort of the gaps.
    ///
    /// - Parameters:
    ///   - wanted: Not empty each, ascending, without overlap.
    ///   - allowance: The most bytes of gaps; the used part is subtracted.
    ///   - most: The most bytes of a part.
    static func parts(_ wanted: [Range<UInt64>], allowance: inout Double, most: UInt64) -> [Part] {
        guard !wanted.isEmpty else { return [] }
        let gaps = (1..<wanted.count).map { (size: wanted[$0].lowerBound - wanted[$0 - 1].upperBound, before: $0) }
        var isJoined = [Bool](repeating: false, count: wanted.count)
        var left = allowance
        for gap in gaps.sorted(by: { ($0.size, $0.before) < ($1.size, $1.before) }) {
            left -= Double(gap.size)
            guard left >= 0, gap.size <= longestGap else { break }
            isJoined[gap.before] = true
        }
        var parts = [Part(range: wanted[0], pieces: 0..<1)]
        for index in 1..<wanted.count {
            let last = parts[parts.count - 1]
            if isJoined[index], wanted[index].upperBound - last.range.lowerBound <= most {
                allowance -= Double(wanted[index].lowerBound - last.range.upperBound)
                parts[parts.count - 1].range = last.range.lowerBound..<wanted[index].upperBound
                parts[parts.count - 1].pieces = last.pieces.lowerBound..<index + 1
            } else {
                parts.append(Part(range: wanted[index], pieces: index..<index + 1))
            }
        }
        return parts
    }

    /// The same with an allowance that is a share of the bytes wanted.
    static func parts(_ wanted: [Range<UInt64>], overfetch: Double, most: UInt64) -> [Part] {
        var allowance = bytes(wanted) * overfetch
        return parts(wanted, allowance: &allowance, most: most)
    }

    static func bytes(_ ranges: [Range<UInt64>]) -> Double {
        ranges.reduce(0.0) { $0 + Double($1.upperBound - $1.lowerBound) }
    }
}
