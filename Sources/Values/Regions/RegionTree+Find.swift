extension RegionTree {
    /// Finds a region by an id (`ee`, `DE-BY`, `150`), another code of ISO 3166-1 (`EST`, `233`), a name in any language, or a path.
    ///
    /// Case, accents and punctuation do not matter, nor do order of words, articles and the form of a state: `Korea, South`, `The Gambia`
    /// and `Republic of Estonia` are found. A path names what a region lies in: `United States/Georgia` or `Georgia, US`.
    /// When regions of different levels share a name, the wider one is meant (`Georgia` is the country); see ``otherMeanings(of:)``.
    ///
    /// - Throws: ``RegionsError`` `.unknownRegion` or `.ambiguousName`, both with suggestions.
    public func find(_ text: String) throws(RegionsError) -> Region {
        let trimmed = text.trimmedOfSpaces
        if let region = byID(trimmed) { return region }
        let found = named(trimmed)
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

    /// What a person should know when several regions have the name that ``find(_:)`` was asked for; `nil` for an id and for a name that
    /// only one region has.
    public func otherMeanings(of text: String) -> String? {
        let trimmed = text.trimmedOfSpaces
        guard byID(trimmed) == nil, let taken = try? find(trimmed) else { return nil }
        let others = named(trimmed).map { nodes[$0].region }.filter { $0.id != taken.id }
        guard !others.isEmpty else { return nil }
        let places = others.map { region in
            "\(region.id) (\(region.name("en"))\(parent(of: region.id).map { " in \($0.name("en"))" } ?? ""))"
        }
        return "'\(trimmed)' is read as the \(taken.kind) \(taken.id); "
            + "\(places.joined(separator: " and ")) \(places.count == 1 ? "has" : "have") this name too"
    }

    /// Ids of regions whose id or name is close to a text, best first; at most five.
    public func suggestions(for text: String) -> [String] {
        let wanted = NameFolding.fold(text)
        guard !wanted.isEmpty, wanted.count <= 80 else { return [] }
        // The digits of a number say nothing about other numbers; zeros at its start may be lost.
        if wanted.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            let code = String(repeating: "0", count: max(0, 3 - wanted.count)) + wanted
            let owners = names.names(of: nodes).folded[code] ?? index(of: code).map { [$0] } ?? []
            return owners.map { nodes[$0].region.id }
        }
        let letters = Array(wanted)
        // At most one typing error per three letters; none in an id of two letters.
        let limit = min(3, letters.count / 3)
        let telling = NameWords.telling(wanted)
        var best: [Int: Int] = [:]
        func offer(_ node: Int, _ score: Int) { best[node] = min(best[node] ?? .max, score) }
        for (name, owners) in names.names(of: nodes).folded {
            if let distance = NameFolding.distance(letters, Array(name), limit: limit) {
                for node in owners { offer(node, distance * 10) }
            } else if letters.count >= 2, name.hasPrefix(wanted) {
                for node in owners { offer(node, 15) }
            } else if letters.count >= 4, name.contains(wanted) {
                for node in owners { offer(node, 25) }
            } else if telling.contains(where: { " \(name) ".contains(" \($0) ") }) {
                for node in owners { offer(node, 40) }
            }
        }
        return best.sorted {
            ($0.value, nodes[$0.key].region.kind.depth, $0.key) < ($1.value, nodes[$1.key].region.kind.depth, $1.key)
        }.prefix(5).map { nodes[$0.key].region.id }
    }

    /// All regions that an id, a name or a path means, in the order of the tree.
    func meanings(of text: String) -> [Region] {
        let trimmed = text.trimmedOfSpaces
        return byID(trimmed).map { [$0] } ?? named(trimmed).map { nodes[$0].region }
    }

    private func byID(_ text: String) -> Region? { self[text] ?? self[text.replacing("_", with: "-")] }

    /// Indexes of the nodes that a name or a path means.
    private func named(_ text: String) -> [Int] {
        let known = names.names(of: nodes)
        let whole = NameFolding.fold(text)
        if let initials = Self.initials(whole) {
            if let node = index(of: initials) { return [node] }
            if let found = known.folded[initials] { return found }
        }
        // A few names contain a slash.
        if let found = known.folded[whole] { return found }
        let path = text.split(separator: "/").map { NameFolding.fold(String($0)) }
        let place = text.split { ",()".contains($0) }.map { NameFolding.fold(String($0)) }.filter { !$0.isEmpty }
        for parts in [path, place.reversed()] where parts.count > 1 {
            let owners = parts.last.flatMap { known.folded[$0] } ?? []
            let found = owners.filter { isPath(parts.dropLast(), above: $0, known) }
            if !found.isEmpty { return found }
        }
        let words = NameWords(folded: whole)
        if let found = known.words[words.key] { return found }
        let found = known.words[words.keyWithoutForms] ?? []
        let parts = words.namesAPart ? found.filter { nodes[$0].region.kind == .region } : []
        return parts.isEmpty ? found : parts
    }

    /// The letters of a folded name that has only single letters, as one word: `us` of `U.S.`.
    private static func initials(_ folded: String) -> String? {
        let words = folded.split(separator: " ")
        return words.count > 1 && words.allSatisfy { $0.count == 1 } ? words.joined() : nil
    }

    /// Whether folded names occur in this order among the ancestors of a node.
    private func isPath(_ parts: ArraySlice<String>, above node: Int, _ known: NameIndex.Names) -> Bool {
        var wanted = parts
        var at = nodes[node].region.parentID
        while let name = wanted.last, let index = at.flatMap({ indexes[$0] }) {
            let region = nodes[index].region
            if region.id.lowercased() == Self.initials(name) ?? name || known.folded[name]?.contains(index) == true {
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
