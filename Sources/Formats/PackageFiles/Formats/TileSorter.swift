package import Foundation

/// One tile on its way into another order: its place there, and where its body is.
package struct TileRecord: BitwiseCopyable {
    /// The sort key; unique per tile.
    package let order: UInt64
    /// What the source knows the body by.
    package let reference: UInt64
    /// Bytes of the body, where the source needs them to read it.
    package let length: UInt64

    package init(order: UInt64, reference: UInt64, length: UInt64) {
        self.order = order
        self.reference = reference
        self.length = length
    }
}

/// Sorts any number of tiles in bounded memory: runs of up to a million (24 MB), merged on the way out.
package final class TileSorter {
    private let spool: Spool<TileRecord>
    private let limit: Int
    private var records: [TileRecord] = []
    private var runs: [Range<Int>] = []

    /// - Parameters:
    ///   - place: A name for the file of runs, when there is more than one.
    ///   - limit: Records sorted at a time.
    package init(near place: URL, limit: Int = 1 << 20) {
        spool = Spool(near: place, limit: min(limit, 4_096))
        self.limit = limit
    }

    package func add(_ record: TileRecord) throws {
        records.append(record)
        if records.count >= limit { try endRun() }
    }

    /// Calls `body` with every record, ascending; may be asked again.
    ///
    /// - Parameter choose: Called with two records that share a place; the one that it returns goes on.
    /// - Throws: What `body` and `choose` throw.
    package func walk(
        choose: (TileRecord, TileRecord) throws -> TileRecord, _ body: (TileRecord) throws -> Void
    ) throws {
        var waiting: TileRecord?
        var walked = 0
        func next(_ record: TileRecord) throws {
            walked += 1
            if let known = waiting {
                if known.order == record.order {
                    waiting = try choose(known, record)
                    return
                }
                try body(known)
            }
            waiting = record
        }
        if runs.isEmpty {
            records.sort { $0.order < $1.order }
            for record in records { try next(record) }
        } else {
            if !records.isEmpty { try endRun() }
            var heap = RunHeap(runs.map { RunReader(spool, $0) })
            while let record = try heap.next() { try next(record) }
        }
        guard walked == spool.count + (runs.isEmpty ? records.count : 0) else {
            throw PackagesError(.verificationFailed, "Sorting lost tiles; this is a bug in Packhorse.")
        }
        if let waiting { try body(waiting) }
    }

    private func endRun() throws {
        records.sort { $0.order < $1.order }
        let start = spool.count
        try spool.append(contentsOf: records)
        runs.append(start..<spool.count)
        records.removeAll(keepingCapacity: true)
    }
}

/// One sorted run, read a piece at a time.
private struct RunReader {
    private let spool: Spool<TileRecord>
    private var rest: Range<Int>
    private var piece: ArraySlice<TileRecord> = []

    init(_ spool: Spool<TileRecord>, _ range: Range<Int>) {
        self.spool = spool
        rest = range
    }

    mutating func next() throws -> TileRecord? {
        if piece.isEmpty, !rest.isEmpty {
            let end = min(rest.lowerBound + 2_048, rest.upperBound)
            piece = try spool.read(rest.lowerBound..<end)[...]
            rest = end..<rest.upperBound
        }
        return piece.popFirst()
    }
}

/// The runs by their next record, the smallest on top (a binary heap).
private struct RunHeap {
    private var readers: [RunReader]
    private var heap: [(record: TileRecord, reader: Int)] = []
    private var isFilled = false

    init(_ readers: [RunReader]) { self.readers = readers }

    mutating func next() throws -> TileRecord? {
        if !isFilled {
            isFilled = true
            for index in readers.indices {
                if let record = try readers[index].next() { heap.append((record, index)) }
            }
            // Sorted is a heap.
            heap.sort { $0.record.order < $1.record.order }
        }
        guard let top = heap.first else { return nil }
        if let record = try readers[top.reader].next() {
            heap[0].record = record
        } else if let last = heap.popLast(), !heap.isEmpty {
            heap[0] = last
        }
        sink()
        return top.record
    }

    private mutating func sink() {
        var place = 0
        while true {
            let left = 2 * place + 1
            guard left < heap.count else { return }
            let right = left + 1
            let least =
                right < heap.count && heap[right].record.order < heap[left].record.order ? right : left
            guard heap[least].record.order < heap[place].record.order else { return }
            heap.swapAt(place, least)
            place = least
        }
    }
}
