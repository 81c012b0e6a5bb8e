import Synchronization
import Tiles

/// The embedded boundaries: areas whose rings are made of arcs that neighbours share (ops/regions/FORMAT.md).
///
/// Making one reads the directory only; arcs are decoded when a piece is asked for.
final class PieceAtlas: Sendable {
    struct Piece: Sendable {
        let id: String
        let body: Range<Int>
        /// Fixed-point world coordinates, both ends inclusive.
        let minimum: MercatorPoint
        let maximum: MercatorPoint
    }

    /// An arc and the way it is walked.
    struct Step: Hashable, Sendable {
        let arc: Int
        let isReversed: Bool
    }

    let pieces: [Piece]
    private let arcs: [Range<Int>]
    private let bytes: ResourceBytes
    /// Left shift from the grid of the file to the 2^32 fixed point of module Tiles.
    private let shift: Int
    private let side: Int
    private let indexes: [String: Int]
    private let rings: Mutex<[Int: [[MercatorPoint]]]> = Mutex([:])

    /// Reads the directory.
    ///
    /// - Throws: ``RegionsError`` `.badResource` for bytes that are not a directory of the format.
    init(_ bytes: ResourceBytes) throws(RegionsError) {
        var cursor = ByteCursor(bytes, 0..<bytes.count)
        guard try cursor.ascii(min(5, cursor.remaining)) == "PHRG\u{1}" else {
            throw .damaged("does not start with its signature")
        }
        let bits = try cursor.varint()
        guard (8...24).contains(bits) else { throw .damaged("has a grid of \(bits) bits instead of 8 to 24") }
        shift = 32 - bits
        side = 1 << bits
        let arcCount = try cursor.count(of: "arcs")
        let pieceCount = try cursor.count(of: "pieces")
        var lengths: [Int] = []
        lengths.reserveCapacity(arcCount)
        for _ in 0..<arcCount { lengths.append(try cursor.varint()) }
        var entries: [(id: String, length: Int, box: [Int])] = []
        for _ in 0..<pieceCount {
            let id = try cursor.ascii(cursor.count(of: "letters"))
            let length = try cursor.varint()
            let x = try cursor.varint()
            let y = try cursor.varint()
            let box = [x, y, x + (try cursor.varint()), y + (try cursor.varint())]
            guard (box.max() ?? 0) <= 1 << bits else { throw .damaged("has a piece \(id) outside its grid") }
            entries.append((id, length, box))
        }
        var start = cursor.position
        func body(_ length: Int) throws(RegionsError) -> Range<Int> {
            guard length <= bytes.count - start else { throw .damaged("ends inside a body at byte \(start)") }
            defer { start += length }
            return start..<start + length
        }
        var arcs: [Range<Int>] = []
        arcs.reserveCapacity(arcCount)
        for length in lengths { arcs.append(try body(length)) }
        var pieces: [Piece] = []
        for entry in entries {
            let box = entry.box.map { Int64($0) << Int64(32 - bits) }
            pieces.append(
                Piece(
                    id: entry.id, body: try body(entry.length), minimum: MercatorPoint(x: box[0], y: box[1]),
                    maximum: MercatorPoint(x: box[2], y: box[3])))
        }
        guard start == bytes.count else { throw .damaged("has \(bytes.count - start) bytes after its end") }
        self.arcs = arcs
        self.pieces = pieces
        self.bytes = bytes
        indexes = Dictionary(pieces.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    func index(of id: String) -> Int? { indexes[id] }

    /// The rings of a piece as steps along arcs.
    func steps(of piece: Int) throws(RegionsError) -> [[Step]] {
        var cursor = ByteCursor(bytes, pieces[piece].body)
        let ringCount = try cursor.count(of: "rings")
        var out: [[Step]] = []
        out.reserveCapacity(ringCount)
        var arc = 0
        for _ in 0..<ringCount {
            let stepCount = try cursor.count(of: "steps")
            var ring: [Step] = []
            ring.reserveCapacity(stepCount)
            for _ in 0..<stepCount {
                let value = try cursor.varint()
                arc += (value >> 2) ^ -((value >> 1) & 1)
                guard arcs.indices.contains(arc) else { throw .damaged("walks along arc \(arc) of \(arcs.count)") }
                ring.append(Step(arc: arc, isReversed: value & 1 == 1))
            }
            out.append(ring)
        }
        return out
    }

    /// The points of an arc in the direction of a step, both ends included.
    func points(of step: Step) throws(RegionsError) -> [MercatorPoint] {
        var cursor = ByteCursor(bytes, arcs[step.arc])
        let pointCount = try cursor.count(of: "points")
        var x = 0
        var y = 0
        var out: [MercatorPoint] = []
        out.reserveCapacity(pointCount)
        for i in 0..<pointCount {
            x += i == 0 ? try cursor.varint() : try cursor.zigzag()
            y += i == 0 ? try cursor.varint() : try cursor.zigzag()
            guard x >= 0, x <= side, y >= 0, y <= side else { throw .damaged("has an arc outside its grid") }
            out.append(MercatorPoint(x: Int64(x) << Int64(shift), y: Int64(y) << Int64(shift)))
        }
        return step.isReversed ? out.reversed() : out
    }

    /// The rings of a piece as points, decoded once, then kept; the first point is not repeated.
    func outline(of piece: Int) throws(RegionsError) -> [[MercatorPoint]] {
        if let known = rings.withLock({ $0[piece] }) { return known }
        var out: [[MercatorPoint]] = []
        // The largest piece (CA-NU) has about 20,000 points; the limit keeps a damaged file from asking for gigabytes.
        var budget = 8_000_000
        for ring in try steps(of: piece) {
            var points: [MercatorPoint] = []
            for step in ring {
                if !points.isEmpty { points.removeLast() }
                let arc = try self.points(of: step)
                points += arc
                budget -= arc.count
                guard budget >= 0 else { throw .damaged("has a piece \(pieces[piece].id) of too many points") }
            }
            if points.count > 1, points.first == points.last { points.removeLast() }
            out.append(points)
        }
        let found = out
        rings.withLock { $0[piece] = found }
        return out
    }

    /// Decodes everything once and throws at the first damage (for tests).
    func validate() throws(RegionsError) {
        for piece in pieces.indices { _ = try outline(of: piece) }
    }
}
