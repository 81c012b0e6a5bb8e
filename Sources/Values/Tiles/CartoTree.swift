import Errors

/// A CARTO mask exactly as in its text, node by node; unlike ``TileMask``, it can have nodes that are outside and have
/// children inside.
package struct CartoTree: Hashable, Sendable {
    /// Two bits a node, before its children: 2 = has children, 1 = is inside.
    package let nodes: [UInt8]
    /// The deepest zoom of a package's tiles, from the text or 14.
    package let maxZoom: Int

    /// Reads bare text, `text:maxZoom` or the form for URLs.
    package init(_ text: String) throws(TilesError) {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        maxZoom = try parts.count == 2 ? Self.zoom(parts[1]) : 14
        var writer = MaskBitWriter()
        var characters = parts[0]
        while characters.last == UInt8(ascii: "=") { characters.removeLast() }
        for character in characters {
            guard let value = CartoAlphabet.value(character) else {
                throw TilesError(
                    .badMask,
                    "CARTO tile mask has the character code \(character); expected A-Z a-z 0-9 + / (or - _).")
            }
            writer.write(UInt64(value), bits: 6)
        }
        var reader = MaskBitReader(writer.padded[...])
        let bits = characters.count * 6
        var nodes: [UInt8] = []
        // How many children are still to be read at each zoom on the way down to the current node.
        var open: [Int] = [1]
        while let left = open.last {
            if left == 0 {
                open.removeLast()
                continue
            }
            guard reader.position + 2 <= bits, let node = reader.read(2) else {
                throw TilesError(
                    .badMask, "CARTO tile mask of \(characters.count) characters ends in the middle of its tree.")
            }
            nodes.append(UInt8(node))
            open[open.count - 1] = left - 1
            if node >= 2 {
                guard open.count <= TileID.maxZoom else {
                    throw TilesError(.badMask, "CARTO tile mask is deeper than zoom \(TileID.maxZoom).")
                }
                open.append(4)
            }
        }
        self.nodes = nodes
    }

    private static func zoom(_ digits: Substring.UTF8View) throws(TilesError) -> Int {
        guard (1...2).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let zoom = Int(String(decoding: digits, as: UTF8.self)), zoom <= TileID.maxZoom
        else {
            throw TilesError(
                .badMask,
                "CARTO tile mask has '\(String(decoding: digits.prefix(20), as: UTF8.self))' after its colon; "
                    + "expected the maximum zoom, 0...\(TileID.maxZoom).")
        }
        return zoom
    }

    /// The bare text of the same nodes.
    package var text: String {
        var writer = MaskBitWriter()
        for node in nodes { writer.write(UInt64(node), bits: 2) }
        return CartoAlphabet.text(writer.padded)
    }

    /// Whether a client treats the tile as covered: walks to the leaf above it or to its own node.
    ///
    /// Reads up to every node.
    package func covers(_ tile: TileID) -> Bool {
        guard tile.zoom <= maxZoom else { return false }
        var index = 0
        for bit in stride(from: tile.zoom - 1, through: 0, by: -1) {
            guard nodes[index] >= 2 else { break }
            index += 1
            for _ in 0..<tile.quadrant(bit) { index = end(of: index) }
        }
        return nodes[index] & 1 == 1
    }

    /// The index after a node and everything below it.
    private func end(of start: Int) -> Int {
        var index = start
        var open = 1
        while open > 0 {
            open += nodes[index] >= 2 ? 3 : -1
            index += 1
        }
        return index
    }

    /// The tiles that it covers, with their parents.
    var mask: TileMask {
        var builder = MaskBuilder(maxZoom: maxZoom)
        var index = 0
        func read(_ zoom: Int) -> MaskNode {
            let node = nodes[index]
            index += 1
            let isInside = node & 1 == 1
            if node < 2 { return isInside && zoom <= maxZoom ? .through(maxZoom) : .absent }
            var children = MaskChildren()
            for quadrant in 0..<4 { children[quadrant] = read(zoom + 1) }
            if zoom >= maxZoom { return isInside && zoom == maxZoom ? .through(maxZoom) : .absent }
            return isInside || !children.isEmpty ? builder.join(children, zoom: zoom) : .absent
        }
        let root = read(0)
        return builder.mask(root)
    }
}
