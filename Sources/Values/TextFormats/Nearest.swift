/// Finds the known word that is nearest to a mistyped word.
package enum Nearest {
    /// The word at the smallest distance, if that is at most a third of its length or one letter.
    ///
    /// If several are equally near, the first one. Only the first 64 characters of each are compared, without case, so that words out of
    /// documents of others take no time.
    package static func word(to text: String, among words: [String]) -> String? {
        let typed = Array(text.lowercased().prefix(64))
        let scored = words.map { (word: $0, distance: distance(typed, Array($0.lowercased().prefix(64)))) }
        guard let best = scored.min(by: { $0.distance < $1.distance }),
            best.distance <= max(1, best.word.count / 3)
        else { return nil }
        return best.word
    }

    /// The edit distance of two words: inserted, removed, replaced and swapped letters.
    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var rows = [Array(0...other.count)]
        for i in one.indices {
            var row = [i + 1]
            for j in other.indices {
                var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (one[i] == other[j] ? 0 : 1))
                if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] {
                    least = min(least, rows[i - 1][j - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[one.count][other.count]
    }
}
