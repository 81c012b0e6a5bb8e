internal import CatalogFormat
import Errors

/// The encoded elements of an array in a JSON document, cached between writes: only elements whose source changed are
/// encoded again.
///
/// The bytes are the same as those of ``CatalogJSON/encode(_:named:)`` for the whole document: the cache cannot change the
/// output.
struct EncodedRows<Key: Hashable & Sendable, Source: Equatable & Sendable>: Sendable {
    /// A class, because copying a source would change the reference count of each of its many members.
    private final class Row: Sendable {
        let source: Source
        let bytes: [UInt8]
        init(source: Source, bytes: [UInt8]) {
            self.source = source
            self.bytes = bytes
        }
    }
    private var rows: [Key: Row] = [:]
    /// Number of elements that were encoded so far.
    private(set) var encodings = 0

    /// Whether the cached element was encoded from an equal source.
    func holds(_ key: Key, _ source: Source) -> Bool { rows[key].map { $0.source == source } ?? false }

    /// The array's elements in this order, each indented as one of an array of the document.
    ///
    /// Elements that are not in the argument are removed from the cache.
    /// - Parameters:
    ///   - key: The unique key of a source.
    ///   - encode: The element encoded as a document, without a newline at its end.
    mutating func elements(
        _ sources: [Source], by key: (Source) -> Key, _ encode: (Source) throws(CatalogError) -> [UInt8]
    ) throws(CatalogError) -> [[UInt8]] {
        var next: [Key: Row] = [:]
        next.reserveCapacity(sources.count)
        var elements: [[UInt8]] = []
        elements.reserveCapacity(sources.count)
        for source in sources {
            let key = key(source)
            let row: Row
            if let known = rows[key], known.source == source {
                row = known
            } else {
                row = Row(source: source, bytes: Self.indented(try encode(source)))
                encodings += 1
            }
            next[key] = row
            elements.append(row.bytes)
        }
        rows = next
        return elements
    }

    /// Indents by two more levels; an empty line stays empty, as the encoder writes it.
    private static func indented(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + bytes.count / 8)
        var isStart = true
        for byte in bytes {
            if isStart, byte != 0x0A { result += [0x20, 0x20, 0x20, 0x20] }
            isStart = byte == 0x0A
            result.append(byte)
        }
        return result
    }
}

extension Catalog {
    /// Joins a JSON document with its largest arrays, which were encoded element by element; their bytes are copied once.
    ///
    /// - Parameters:
    ///   - shell: The document with these arrays, members of its outermost object, empty.
    ///   - arrays: Their elements by member name, of ``EncodedRows/elements(_:by:_:)``.
    /// - Throws: `catalog-corrupt` if the shell does not have such an empty array.
    static func document(shell: [UInt8], filling arrays: [String: [[UInt8]]]) throws(CatalogError) -> [UInt8] {
        var places: [(offset: Int, elements: [[UInt8]])] = []
        var size = shell.count
        for (member, elements) in arrays where !elements.isEmpty {
            // A string cannot hold a newline, so only a member of the outermost object can begin this way.
            let opening = Array("\n  \"\(member)\" : [\n".utf8)
            let pattern = opening + Array("\n  ]".utf8)
            let start = (0...max(0, shell.count - pattern.count)).first { shell[$0...].starts(with: pattern) }
            guard let start else {
                throw CatalogError(.corrupt, "A list of the catalog has no empty array '\(member)' to fill.")
            }
            places.append((start + opening.count, elements))
            size += elements.reduce(0) { $0 + $1.count + 2 }
        }
        var result: [UInt8] = []
        result.reserveCapacity(size)
        var rest = shell[...]
        for place in places.sorted(by: { $0.offset < $1.offset }) {
            result += rest[..<place.offset]
            for (number, element) in place.elements.enumerated() {
                if number > 0 { result += [0x2C, 0x0A] }
                result += element
            }
            rest = rest[place.offset...]
        }
        result += rest
        return result
    }
}
