/// Covers a shape: walks down the quadtree and keeps, for each tile, the list of edges that meet it.
///
/// The edges of one filled polygon make a *run*; points and lines are runs without a filling. For the current tile, a
/// run stores whether the tile's north-west corner is inside its polygon. From one corner to another this changes with
/// each edge that crosses the segment between them. All of those edges are in the tile's list, because the segment is
/// in the tile. A child that no edge of a run meets is inside it as a whole or outside it as a whole.
///
/// The lists are on two stacks that grow by a tile's own list on the way down and shrink on the way up.
struct MaskCover {
    /// One polygon's edges within the list of a tile.
    private struct Run {
        /// Where its edges begin on the stack; they end where the next run's begin, or with the list.
        var start: Int
        let isFilled: Bool
        /// Whether the corner is inside: of the tile in bit 0, and of its four children in bits 4...7 (see `corner`).
        var inside: UInt8
        /// The children that some edge of the run meets.
        var met: UInt8 = 0
    }

    /// An edge, and the children it meets as bits of the quadrant.
    private struct Entry {
        let edge: Int32
        var met: UInt8
    }

    private var edges: [CoverEdge] = []
    private var runs: [Run] = []
    private var entries: [Entry] = []
    private var builder: MaskBuilder
    /// Whether only tiles count that one polygon holds whole.
    private let isInner: Bool

    /// A tile with few edges is examined more closely: it may be full although edges run along its border.
    private static let closeLook = 8

    init(_ shape: MercatorShape, maxZoom: Int, isInner: Bool = false) {
        self.isInner = isInner
        builder = MaskBuilder(maxZoom: maxZoom)
        for point in shape.points { add([point], isFilled: false) }
        for line in shape.lines { add(line, isFilled: false) }
        for polygon in shape.polygons {
            let start = entries.count
            for ring in polygon { addEdges(of: ring, isClosed: true) }
            addRun(from: start, isFilled: true)
        }
    }

    private mutating func add(_ line: [MercatorPoint], isFilled: Bool) {
        let start = entries.count
        addEdges(of: line, isClosed: false)
        addRun(from: start, isFilled: isFilled)
    }

    private mutating func addEdges(of points: [MercatorPoint], isClosed: Bool) {
        guard let first = points.first, let last = points.last else { return }
        var previous = first
        if points.count == 1 { append(CoverEdge(first, first)) }
        for point in points.dropFirst() {
            append(CoverEdge(previous, point))
            previous = point
        }
        if isClosed, points.count > 1, last != first { append(CoverEdge(last, first)) }
    }

    private mutating func append(_ edge: CoverEdge) {
        precondition(edges.count < Int(Int32.max), "A shape of 2^31 edges (64 GiB) is not supported.")
        entries.append(Entry(edge: Int32(truncatingIfNeeded: edges.count), met: 0))
        edges.append(edge)
    }

    private mutating func addRun(from start: Int, isFilled: Bool) {
        guard start < entries.count else { return }
        runs.append(Run(start: start, isFilled: isFilled, inside: 0))
    }

    mutating func run() -> TileMask {
        // Whether the world's corner is inside, computed along a ray from far west; edges outside the world are needed
        // only here.
        let allRuns = runs
        let allEntries = entries
        runs.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
        var covered = false
        for (index, run) in allRuns.enumerated() {
            let end = index + 1 < allRuns.count ? allRuns[index + 1].start : allEntries.count
            let start = entries.count
            var inside: UInt8 = 0
            for entry in allEntries[run.start..<end] {
                let edge = edges[Int(entry.edge)]
                if run.isFilled, edge.crossesLevel(y: 0, from: -0x8_0000_0000, to: 0) { inside ^= 1 }
                if edge.touches(x: 0, y: 0, size: MercatorPoint.world) { entries.append(entry) }
            }
            if entries.count > start {
                runs.append(Run(start: start, isFilled: run.isFilled, inside: inside))
            } else if inside == 1 {
                covered = true
            }
        }
        if covered { return TileMask(full: builder.maxZoom) }
        guard !runs.isEmpty else { return TileMask(empty: builder.maxZoom) }
        let root = node(zoom: 0, x: 0, y: 0, firstRun: 0)
        return builder.mask(root)
    }

    /// The node of a tile that the runs from `firstRun` to the top of the stack meet.
    private mutating func node(zoom: Int, x: Int64, y: Int64, firstRun: Int) -> MaskNode {
        if zoom == builder.maxZoom {
            guard isInner else { return .through(zoom) }
            return isFull(firstRun, x: x, y: y, size: MercatorPoint.world >> Int64(zoom)) ? .through(zoom) : .absent
        }
        let endRun = runs.count
        let endEntry = entries.count
        let firstEntry = runs[firstRun].start
        let size = MercatorPoint.world >> Int64(zoom)
        if endEntry - firstEntry <= Self.closeLook, isFull(firstRun, x: x, y: y, size: size) {
            return .through(builder.maxZoom)
        }
        var full: UInt8 = 0
        for index in firstRun..<endRun {
            full |= split(index, end: index + 1 < endRun ? runs[index + 1].start : endEntry, x: x, y: y, size: size)
        }
        var children = MaskChildren()
        let half = size >> 1
        for quadrant in 0..<4 {
            let bit = UInt8(1) << UInt8(quadrant)
            if full & bit != 0 {
                children[quadrant] = .through(builder.maxZoom)
                continue
            }
            let isLast = zoom + 1 == builder.maxZoom
            for index in firstRun..<endRun where runs[index].met & bit != 0 {
                let end = index + 1 < endRun ? runs[index + 1].start : endEntry
                let inside = runs[index].inside >> UInt8(4 + quadrant) & 1
                runs.append(Run(start: entries.count, isFilled: runs[index].isFilled, inside: inside))
                if isLast, !isInner { break }
                for entry in runs[index].start..<end where entries[entry].met & bit != 0 {
                    entries.append(Entry(edge: entries[entry].edge, met: 0))
                }
            }
            if runs.count > endRun {
                children[quadrant] =
                    isLast && !isInner
                    ? .through(builder.maxZoom)
                    : node(
                        zoom: zoom + 1, x: x + (quadrant & 1 == 1 ? half : 0), y: y + (quadrant < 2 ? half : 0),
                        firstRun: endRun)
                runs.removeSubrange(endRun...)
                entries.removeSubrange(endEntry...)
            }
        }
        return isInner && children.isEmpty ? .absent : builder.join(children, zoom: zoom)
    }

    /// Marks which children each edge of a run meets and whether their corners are inside; returns the children that
    /// lie wholly inside the run's polygon.
    private mutating func split(_ index: Int, end: Int, x: Int64, y: Int64, size: Int64) -> UInt8 {
        let half = size >> 1
        let (middleX, middleY) = (x + half, y + half)
        let isFilled = runs[index].isFilled
        var crossings: UInt8 = 0
        var allMet: UInt8 = 0
        for position in runs[index].start..<end {
            let edge = edges[Int(entries[position].edge)]
            var met: UInt8 = 0
            let west = min(edge.x0, edge.x1)
            let east = max(edge.x0, edge.x1)
            let north = min(edge.y0, edge.y1)
            let south = max(edge.y0, edge.y1)
            if east < middleX || west > middleX || south < middleY || north > middleY {
                // In one half: at most two children to distinguish.
                if south >= middleY {
                    if west <= middleX, edge.touches(x: x, y: middleY, size: half) { met |= 1 }
                    if east >= middleX, edge.touches(x: middleX, y: middleY, size: half) { met |= 2 }
                }
                if north <= middleY {
                    if west <= middleX, edge.touches(x: x, y: y, size: half) { met |= 4 }
                    if east >= middleX, edge.touches(x: middleX, y: y, size: half) { met |= 8 }
                }
            } else {
                if edge.touches(x: x, y: middleY, size: half) { met |= 1 }
                if edge.touches(x: middleX, y: middleY, size: half) { met |= 2 }
                if edge.touches(x: x, y: y, size: half) { met |= 4 }
                if edge.touches(x: middleX, y: y, size: half) { met |= 8 }
            }
            entries[position].met = met
            allMet |= met
            guard isFilled else { continue }
            // North-west to north-east, north-west to south-west, north-east to south-east.
            if edge.crossesLevel(y: y, from: x, to: middleX) { crossings ^= 1 }
            if edge.crossesUpright(x: x, from: y, to: middleY) { crossings ^= 2 }
            if edge.crossesUpright(x: middleX, from: y, to: middleY) { crossings ^= 4 }
        }
        runs[index].met = allMet
        guard isFilled else { return 0 }
        let northWest = runs[index].inside & 1
        let northEast = northWest ^ crossings & 1
        let southWest = northWest ^ crossings >> 1 & 1
        let southEast = northEast ^ crossings >> 2 & 1
        let insides = southWest | southEast << 1 | northWest << 2 | northEast << 3
        runs[index].inside = northWest | insides << 4
        return insides & ~allMet
    }

    /// Whether some polygon holds the whole tile and its edges only run along the border.
    private func isFull(_ firstRun: Int, x: Int64, y: Int64, size: Int64) -> Bool {
        for index in firstRun..<runs.count where runs[index].isFilled && runs[index].inside & 1 == 1 {
            let end = index + 1 < runs.count ? runs[index + 1].start : entries.count
            if !entries[runs[index].start..<end].contains(where: {
                edges[Int($0.edge)].enters(x: x, y: y, size: size)
            }) {
                return true
            }
        }
        return false
    }
}
