internal import Files
package import Foundation

/// A long sequence of small records: the last ones in memory, the others in an unnamed file.
///
/// Used by one thread at a time; the file is gone with the object, or with the process.
package final class Spool<Record: BitwiseCopyable> {
    private let place: URL
    private let limit: Int
    private var file: FileDescriptor?
    private var stored = 0
    private var tail: [Record] = []

    /// - Parameters:
    ///   - place: A path on the file system to use.
    ///   - limit: Records to keep in memory.
    package init(near place: URL, limit: Int) {
        self.place = place
        self.limit = limit
    }

    /// Records so far.
    package var count: Int { stored + tail.count }

    package func append(_ record: Record) throws {
        tail.append(record)
        if tail.count >= limit { try flush() }
    }

    package func append(contentsOf records: [Record]) throws {
        tail += records
        if tail.count >= limit { try flush() }
    }

    /// The records with these numbers.
    package func read(_ range: Range<Int>) throws -> [Record] {
        let size = MemoryLayout<Record>.stride
        var records: [Record] = []
        if range.lowerBound < stored, let file {
            let count = min(range.upperBound, stored) - range.lowerBound
            let bytes = try file.read(at: UInt64(range.lowerBound * size), count: count * size)
            records = bytes.withUnsafeBytes { raw in
                (0..<count).map { raw.loadUnaligned(fromByteOffset: $0 * size, as: Record.self) }
            }
        }
        if range.upperBound > stored {
            records += tail[(max(range.lowerBound, stored) - stored)..<(range.upperBound - stored)]
        }
        return records
    }

    /// Calls `body` with every record in order, reading a few thousand at a time.
    package func walk(_ body: (Record) throws -> Void) throws {
        var next = 0
        while next < count {
            let piece = try read(next..<min(next + 4_096, count))
            for record in piece { try body(record) }
            next += piece.count
        }
    }

    private func flush() throws {
        let target = try file ?? FileDescriptor(scratch: place)
        file = target
        try target.write(tail.withUnsafeBytes { [UInt8]($0) })
        stored += tail.count
        tail.removeAll(keepingCapacity: true)
    }
}
