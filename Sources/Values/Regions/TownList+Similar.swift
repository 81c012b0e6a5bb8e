extension TownList {
    /// Towns with a name that begins with a text, the most populous first.
    ///
    /// - Parameter limit: How many at most.
    public func beginning(with text: String, limit: Int) throws(RegionsError) -> [Town] {
        let wanted = Array(NameFolding.fold(text).utf8)
        guard !wanted.isEmpty else { return [] }
        var best = Best(limit: limit)
        try bytes.forEachName(fromBlock: try bytes.nameBlock(of: wanted)) { (name, owners) throws(RegionsError) in
            if name.starts(with: wanted) {
                for owner in owners { best.add(0, owner.index) }
                return true
            }
            return name.lexicographicallyPrecedes(wanted)
        }
        return try towns(best)
    }

    /// Towns with a name like a text: at most one typing error per three letters, and the same first letter; the most alike first, of these the
    /// most populous.
    public func similar(to text: String, limit: Int) throws(RegionsError) -> [Town] {
        let wanted = NameFolding.fold(text)
        let letters = Array(wanted)
        guard let first = letters.first, letters.count <= 80 else { return [] }
        let errors = min(3, letters.count / 3)
        guard errors > 0 else { return [] }
        let start = Array(String(first).utf8)
        var best = Best(limit: limit)
        try bytes.forEachName(fromBlock: try bytes.nameBlock(of: start)) { (name, owners) throws(RegionsError) in
            guard name.starts(with: start) else { return name.lexicographicallyPrecedes(start) }
            // A letter has at most four bytes.
            guard name.count <= 4 * (letters.count + errors), 4 * name.count >= letters.count - errors else {
                return true
            }
            let other = Array(String(decoding: name, as: UTF8.self))
            if let distance = NameFolding.distance(letters, other, limit: errors) {
                for owner in owners { best.add(distance, owner.index) }
            }
            return true
        }
        return try towns(best)
    }

    private func towns(_ best: Best) throws(RegionsError) -> [Town] {
        var found: [Town] = []
        for index in best.indexes { found.append(try bytes.town(index)) }
        return found
    }

    /// The few best of many towns: by distance, then by the order of the list.
    private struct Best {
        let limit: Int
        private var distances: [Int: Int] = [:]

        init(limit: Int) { self.limit = limit }

        mutating func add(_ distance: Int, _ index: Int) {
            distances[index] = min(distances[index] ?? .max, distance)
            // A short text can have tens of thousands of towns: only the best are kept.
            if distances.count >= 2_000 + limit { distances = Dictionary(uniqueKeysWithValues: sorted) }
        }

        private var sorted: [(Int, Int)] {
            distances.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.prefix(limit).map { ($0.key, $0.value) }
        }

        var indexes: [Int] { sorted.map(\.0) }
    }
}
