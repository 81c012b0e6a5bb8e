extension RegionTree {
    /// Finds a region by an id (`ee`, `DE-BY`, `150`), or a name in any language, or a path of names.
    ///
    /// Case, accents and punctuation do not matter. When regions of different levels share a name, the wider one is meant (`Georgia` is the
    /// country); a path (`United States/Georgia`) says otherwise.
    ///
    /// - Throws: ``RegionsError`` `.unknownRegion` or `.ambiguousName`, both with suggestions.
    public func find(_ text: String) throws(RegionsError) -> Region {
        let trimmed = text.trimmedOfSpaces
        if let region = self[trimmed] ?? self[trimmed.replacing("_", with: "-")] { return region }
        let known = names.names(of: nodes)
        // A few names contain a slash.
        let whole = NameFolding.fold(trimmed)
        let parts = known[whole] != nil ? [whole] : trimmed.split(separator: "/").map { NameFolding.fold(String($0)) }
        let matches = parts.last.flatMap { known[$0] } ?? []
        let found = matches.filter { isPath(parts.dropLast(), above: $0) }
        if let rank = found.map({ nodes[$0].region.kind }).min() {
            let widest = found.filter { nodes[$0].region.kind == rank }
            if widest.count == 1, let only = widest.first { return nodes[only].region }
            let ids = widest.map { nodes[$0].region.id }
            throw RegionsError(
                .ambiguousName, "'\(trimmed)' is the name of \(ids.joined(separator: " and ")): use the id.",
                suggestions: ids)
        }
        let ids = suggestions(for: trimmed)
        let hint =
            ids.isEmpty
            ? "Use an ISO 3166 id such as EE or DE-BY, or a name; 'packhorse regions' lists them."
            : "Did you mean " + ids.map { "\(self[$0]?.name("en") ?? $0) (\($0))" }.joined(separator: ", ") + "?"
        throw RegionsError(.unknownRegion, "There is no region '\(trimmed)'. \(hint)", suggestions: ids)
    }

    /// Ids of regions whose id or name is close to a text, best first; at most five.
    public func suggestions(for text: String) -> [String] {
        let wanted = NameFolding.fold(text)
        guard !wanted.isEmpty, wanted.count <= 80 else { return [] }
        let letters = Array(wanted)
        // At most one typing error per three letters; none in an id of two letters.
        let limit = min(3, letters.count / 3)
        var best: [Int: Int] = [:]
        func offer(_ node: Int, _ score: Int) { best[node] = min(best[node] ?? .max, score) }
        for (name, owners) in names.names(of: nodes) {
            if let distance = NameFolding.distance(letters, Array(name), limit: limit) {
                for node in owners { offer(node, distance * 10) }
            } else if letters.count >= 2, name.hasPrefix(wanted) {
                for node in owners { offer(node, 15) }
            } else if letters.count >= 4, name.contains(wanted) {
                for node in owners { offer(node, 25) }
            }
        }
        return best.sorted {
            ($0.value, nodes[$0.key].region.kind.depth, $0.key) < ($1.value, nodes[$1.key].region.kind.depth, $1.key)
        }.prefix(5).map { nodes[$0.key].region.id }
    }

    /// Whether folded names occur in this order among the ancestors of a node.
    private func isPath(_ parts: ArraySlice<String>, above node: Int) -> Bool {
        var wanted = parts
        var at = nodes[node].region.parentID
        while let name = wanted.last, let index = at.flatMap({ indexes[$0] }) {
            let region = nodes[index].region
            if region.id.lowercased() == name || region.names.values.contains(where: { NameFolding.fold($0) == name }) {
                wanted.removeLast()
            }
            at = region.parentID
        }
        return wanted.isEmpty
    }
}

extension String {
    var trimmedOfSpaces: String {
        let isSpace = { (c: Character) in c.isWhitespace }
        return String(String(drop(while: isSpace).reversed()).drop(while: isSpace).reversed())
    }
}
