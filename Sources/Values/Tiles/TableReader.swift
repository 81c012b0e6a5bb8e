import Errors

/// Reads the rows of a table of text: cells between separators, quotes around a cell that contains one, as RFC 4180 has it.
///
/// Total: any bytes give rows or an error; bytes that are no UTF-8 become replacement characters.
struct TableReader {
    struct Row {
        /// The number of its first line in the file, from 1.
        let line: Int
        /// Without quotes, and without spaces at both ends.
        let cells: [String]
        /// As it stands in the file, for messages.
        let text: String
        let separator: UInt8

        var isEmpty: Bool { cells.allSatisfy(\.isEmpty) }
    }

    let separator: UInt8
    private let bytes: [UInt8]
    private var position: Int
    private var line: Int

    private init(_ bytes: [UInt8], from position: Int, line: Int, separator: UInt8) {
        (self.bytes, self.position, self.line, self.separator) = (bytes, position, line, separator)
    }

    /// Begins at the first row; the separator is what `sep=` in the first line says, else the first whose first row has cells that are accepted.
    ///
    /// - Parameter isHeader: Whether the cells of a first row make sense.
    init(_ bytes: [UInt8], isHeader: (Row) throws(TilesError) -> Bool) throws(TilesError) {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let first = bytes[start...].prefix { $0 != 0x0A && $0 != 0x0D }
        let named = first.filter { $0 != UInt8(ascii: "\"") && $0 != 0x20 }
        if named.count == 5, String(decoding: named.prefix(4), as: UTF8.self).lowercased() == "sep=" {
            self.init(bytes, from: first.endIndex, line: 1, separator: named[4])
            skipNewline()
            return
        }
        let candidates = Array(";\t,|".utf8).map { TableReader(bytes, from: start, line: 1, separator: $0) }
        for candidate in candidates {
            var reader = candidate
            guard let row = try? reader.next(), row.cells.count > 1, try isHeader(row) else { continue }
            self = candidate
            return
        }
        // The message then shows these cells.
        self = candidates.first { first.contains($0.separator) } ?? candidates[2]
    }

    /// The next row that is not empty; `nil` at the end.
    ///
    /// - Throws: ``TilesError`` `.badGeometry` for a quote that is never closed.
    mutating func next() throws(TilesError) -> Row? {
        while position < bytes.count {
            let row = try row()
            if !row.isEmpty { return row }
        }
        return nil
    }

    private mutating func row() throws(TilesError) -> Row {
        let (start, first) = (position, line)
        var cells: [String] = []
        var cell: [UInt8] = []
        func end() { cells.append(String(decoding: cell, as: UTF8.self).trimmed) }
        while position < bytes.count, bytes[position] != 0x0A, bytes[position] != 0x0D {
            let byte = bytes[position]
            position += 1
            if byte == separator {
                end()
                cell.removeAll(keepingCapacity: true)
            } else if byte == UInt8(ascii: "\""), cell.allSatisfy({ $0 == 0x20 }) {
                try quoted(into: &cell)
            } else {
                cell.append(byte)
            }
        }
        end()
        let text = String(decoding: bytes[start..<position].prefix(200), as: UTF8.self)
        skipNewline()
        return Row(line: first, cells: cells, text: text, separator: separator)
    }

    /// Reads to the closing quote; two quotes are one of the text.
    private mutating func quoted(into cell: inout [UInt8]) throws(TilesError) {
        let opened = line
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") {
                guard position < bytes.count, bytes[position] == byte else { return }
                position += 1
            } else if byte == 0x0A {
                line += 1
            }
            cell.append(byte)
        }
        throw TilesError(.badGeometry, "line \(opened) has an unclosed quote")
    }

    private mutating func skipNewline() {
        guard position < bytes.count else { return }
        let isPair = bytes[position] == 0x0D && position + 1 < bytes.count && bytes[position + 1] == 0x0A
        position += isPair ? 2 : 1
        line += 1
    }
}

extension String {
    fileprivate var trimmed: String {
        guard first?.isWhitespace == true || last?.isWhitespace == true else { return self }
        let end = lastIndex { !$0.isWhitespace }.map(index(after:)) ?? startIndex
        return String(self[..<end].drop(while: \.isWhitespace))
    }
}
