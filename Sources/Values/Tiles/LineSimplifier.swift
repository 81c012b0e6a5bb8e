/// Leaves out the positions of a line that lie near to a straight edge (Ramer, Douglas, Peucker).
enum LineSimplifier {
    /// The indices of positions that stay, in order: every position left out is within the tolerance of the edge that replaces it.
    ///
    /// Distance to an edge is convex, so the whole line stays within the tolerance, and so does the new one of the old.
    static func kept(_ places: [Corridor.Place], tolerance: Double) -> [Int] {
        guard places.count > 2 else { return Array(places.indices) }
        var isKept = [Bool](repeating: false, count: places.count)
        isKept[0] = true
        isKept[places.count - 1] = true
        var spans = [(0, places.count - 1)]
        let limit = tolerance * tolerance
        while let (start, end) = spans.popLast() {
            guard end - start > 1 else { continue }
            let (one, two) = (places[start], places[end])
            let (dx, dy) = (two.x - one.x, two.y - one.y)
            let square = dx * dx + dy * dy
            var (farthest, most) = (start, limit)
            for index in start + 1..<end {
                let (px, py) = (places[index].x - one.x, places[index].y - one.y)
                let share = square > 0 ? max(0, min(1, (px * dx + py * dy) / square)) : 0
                let (ex, ey) = (px - share * dx, py - share * dy)
                let distance = ex * ex + ey * ey
                if distance > most { (farthest, most) = (index, distance) }
            }
            guard farthest != start else { continue }
            isKept[farthest] = true
            spans.append((start, farthest))
            spans.append((farthest, end))
        }
        return places.indices.filter { isKept[$0] }
    }
}
