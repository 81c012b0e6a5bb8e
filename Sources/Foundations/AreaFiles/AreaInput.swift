import Errors
package import Foundation

/// The bytes of a file with an area, read piece by piece; a text in UTF-16 with a byte order mark becomes UTF-8.
///
/// Not Sendable: one reader at a time.
package final class AreaInput {
    /// How much is read at once.
    private static let pieceBytes = 256 << 10

    private let more: () throws -> [UInt8]
    private var buffer: [UInt8] = []
    private var position = 0
    private var isAtEnd = false
    private var utf16: UTF16Text?
    /// The line of the next byte, from 1.
    private(set) var line = 1
    /// The file, where there is one: for formats that another program reads.
    package let file: URL?

    /// - Parameters:
    ///   - file: The file that the bytes come from, if any.
    ///   - more: The next bytes, empty at the end.
    package init(file: URL? = nil, more: @escaping () throws -> [UInt8]) {
        self.file = file
        self.more = more
    }

    /// Bytes in memory.
    package convenience init(bytes: [UInt8]) {
        var left: [UInt8]? = bytes
        self.init {
            defer { left = nil }
            return left ?? []
        }
    }

    /// An open file, read to its end.
    package convenience init(_ handle: FileHandle, file: URL? = nil) {
        self.init(file: file) { [UInt8](try handle.read(upToCount: Self.pieceBytes) ?? Data()) }
    }

    /// The next byte without taking it; `nil` at the end.
    @inline(__always)
    func peek() throws(AreaFileError) -> UInt8? {
        if position < buffer.count { return buffer[position] }
        return try fill() ? buffer[position] : nil
    }

    /// Takes the next byte; `nil` at the end.
    @inline(__always)
    func next() throws(AreaFileError) -> UInt8? {
        guard let byte = try peek() else { return nil }
        position += 1
        if byte == UInt8(ascii: "\n") { line += 1 }
        return byte
    }

    /// Takes everything before the next byte of this value, which stays.
    ///
    /// - Returns: Whether there is one.
    func skip(to wanted: UInt8) throws(AreaFileError) -> Bool {
        while true {
            while position < buffer.count {
                let byte = buffer[position]
                if byte == wanted { return true }
                if byte == UInt8(ascii: "\n") { line += 1 }
                position += 1
            }
            guard try fill() else { return false }
        }
    }

    /// The first bytes of what is left, without taking them; fewer only near the end.
    func ahead(_ count: Int) throws(AreaFileError) -> ArraySlice<UInt8> {
        while buffer.count - position < count {
            let piece = try read()
            if piece.isEmpty { break }
            buffer.removeSubrange(0..<position)
            position = 0
            buffer += piece
        }
        return buffer[position...].prefix(count)
    }

    /// Everything that is left.
    ///
    /// - Throws: `.tooLarge` above a limit.
    func rest(limit: Int) throws(AreaFileError) -> [UInt8] {
        var all = Array(buffer[position...])
        buffer = []
        position = 0
        while true {
            let piece = try read()
            if piece.isEmpty { return all }
            all += piece
            guard all.count <= limit else {
                throw AreaFileError(.tooLarge, "it has more than \(limit >> 20) MiB, the limit for this format")
            }
        }
    }

    /// The next bytes as they come, empty at the end; lines are not counted.
    func nextPiece() throws(AreaFileError) -> [UInt8] {
        guard try fill() else { return [] }
        defer { position = buffer.count }
        return Array(buffer[position...])
    }

    /// Reads a line without its end, at most so many bytes; `nil` at the end.
    func nextLine(limit: Int) throws(AreaFileError) -> [UInt8]? {
        guard try peek() != nil else { return nil }
        var text: [UInt8] = []
        while let byte = try next(), byte != UInt8(ascii: "\n") {
            text.append(byte)
            guard text.count <= limit else { throw .line(line, "it has more than \(limit) bytes") }
        }
        if text.last == UInt8(ascii: "\r") { text.removeLast() }
        return text
    }

    private func fill() throws(AreaFileError) -> Bool {
        guard position >= buffer.count else { return true }
        buffer = try read()
        position = 0
        return !buffer.isEmpty
    }

    /// The next piece, in UTF-8; empty only at the end.
    private func read() throws(AreaFileError) -> [UInt8] {
        while !isAtEnd {
            let piece: [UInt8]
            do { piece = try more() } catch {
                throw AreaFileError(.unreadable, "reading it failed: \(error.localizedDescription)", cause: error)
            }
            isAtEnd = piece.isEmpty
            let text = try utf16?.decoded(piece, isLast: isAtEnd) ?? piece
            if !text.isEmpty { return text }
        }
        return []
    }

    /// Looks for a byte order mark at the start: of UTF-16, which is decoded from now on; that of UTF-8 is left out.
    func beginText() throws(AreaFileError) {
        let start = Array(try ahead(4))
        if start.starts(with: [0xEF, 0xBB, 0xBF]) { position += 3 }
        let isBig = start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0, 0x3C])
        guard isBig || start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0x3C, 0, 0x3F, 0]) else { return }
        var decoder = UTF16Text(isBigEndian: isBig)
        buffer = try decoder.decoded(Array(buffer[position...]), isLast: isAtEnd)
        position = buffer.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        utf16 = decoder
    }
}

/// UTF-16 as it comes, in pieces.
private struct UTF16Text {
    let isBigEndian: Bool
    private var left: [UInt8] = []

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    /// - Throws: `.badArea` for a byte or half of a pair that is left at the end, and for halves without another one.
    mutating func decoded(_ piece: [UInt8], isLast: Bool) throws(AreaFileError) -> [UInt8] {
        let bytes = left + piece
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        for index in stride(from: 0, to: bytes.count - 1, by: 2) {
            let (one, two) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            units.append(isBigEndian ? one << 8 | two : two << 8 | one)
        }
        // The first half of a pair waits for the second one.
        if !isLast, let last = units.last, UTF16.isLeadSurrogate(last) { units.removeLast() }
        left = Array(bytes[(units.count * 2)...])
        guard !isLast || left.isEmpty, let text = String(validating: units, as: UTF16.self) else {
            throw AreaFileError(.badArea, "it is no UTF-16, which its first bytes announce")
        }
        return Array(text.utf8)
    }
}
