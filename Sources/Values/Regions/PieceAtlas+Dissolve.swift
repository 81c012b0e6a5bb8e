import Tiles

extension PieceAtlas {
    /// The outline of several pieces together, without the borders between them.
    ///
    /// Pieces are parts of one partition: an arc between two of them is walked once by each and drops out. The
    /// remaining arcs are joined end to end; the area is to the right of every edge. The result depends on nothing but
    /// the pieces.
    func outline(ofAll wanted: [Int]) throws(RegionsError) -> [[MercatorPoint]] {
        if wanted.count == 1, let only = wanted.first { return try outline(of: only) }
        var left: [Int: Step] = [:]
        for piece in Set(wanted).sorted() {
            for step in try steps(of: piece).joined() {
                if left.removeValue(forKey: step.arc) == nil { left[step.arc] = step }
            }
        }
        let lines = try left.values.sorted { $0.arc < $1.arc }.map { step throws(RegionsError) in try points(of: step) }
        return Self.joined(lines.filter { $0.count > 1 })
    }

    /// Lines joined head to tail into rings.
    ///
    /// A line without a following arc is closed at its own start.
    private static func joined(_ lines: [[MercatorPoint]]) -> [[MercatorPoint]] {
        var starting: [MercatorPoint: [Int]] = [:]
        for (index, line) in lines.enumerated().reversed() { starting[line[0], default: []].append(index) }
        var isUsed = [Bool](repeating: false, count: lines.count)
        var rings: [[MercatorPoint]] = []
        for first in lines.indices where !isUsed[first] {
            isUsed[first] = true
            var ring = lines[first]
            while ring.last != ring.first, let end = ring.last {
                while let next = starting[end]?.last, isUsed[next] { starting[end]?.removeLast() }
                guard let next = starting[end]?.popLast() else { break }
                isUsed[next] = true
                ring += lines[next].dropFirst()
            }
            if ring.count > 1, ring.first == ring.last { ring.removeLast() }
            rings.append(ring)
        }
        return rings
    }
}
