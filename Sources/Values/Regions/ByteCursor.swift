/// Reads varints and bytes out of a slice of the embedded resource and never past its end.
struct ByteCursor {
    private let bytes: ResourceBytes
    private(set) var position: Int
    private let end: Int

    /// A cursor over `range`, which is limited to the existing bytes.
    init(_ bytes: ResourceBytes, _ range: Range<Int>) {
        self.bytes = bytes
        self.position = max(0, min(range.lowerBound, bytes.count))
        self.end = max(position, min(range.upperBound, bytes.count))
    }

    var remaining: Int { end - position }

    /// An unsigned LEB128 number of at most 35 bits, which is all the format uses; five bytes at most.
    mutating func varint() throws(RegionsError) -> Int {
        var value = 0
        for shift in stride(from: 0, to: 35, by: 7) {
            guard position < end else { throw .damaged("ends inside a number at byte \(position)") }
            let byte = Int(bytes[position])
            position += 1
            value |= (byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        throw .damaged("has an overlong number at byte \(position)")
    }

    /// A varint in zigzag: 0, -1, 1, -2 and so on.
    mutating func zigzag() throws(RegionsError) -> Int {
        let value = try varint()
        return value >> 1 ^ -(value & 1)
    }

    /// A count of elements that each take at least one byte, so that a hostile count cannot allocate memory.
    mutating func count(of what: String) throws(RegionsError) -> Int {
        let value = try varint()
        guard value <= remaining else { throw .damaged("claims \(value) \(what) in \(remaining) bytes") }
        return value
    }

    /// A number of three bytes, the lowest first.
    mutating func number24() throws(RegionsError) -> Int {
        guard remaining >= 3 else { throw .damaged("ends inside a number at byte \(position)") }
        defer { position += 3 }
        return bytes.number24(at: position)
    }

    /// The next bytes, which must be there.
    mutating func bytes(_ length: Int) throws(RegionsError) -> [UInt8] {
        guard length <= remaining else { throw .damaged("ends inside a record at byte \(position)") }
        defer { position += length }
        return (position..<position + length).map { bytes[$0] }
    }

    mutating func ascii(_ length: Int) throws(RegionsError) -> String {
        guard length <= remaining else { throw .damaged("ends inside a text at byte \(position)") }
        defer { position += length }
        var text = ""
        for i in position..<position + length {
            guard bytes[i] < 0x80 else { throw .damaged("has a byte that is not ASCII in a text at \(i)") }
            text.unicodeScalars.append(Unicode.Scalar(bytes[i]))
        }
        return text
    }
}

extension RegionsError {
    /// A name that several towns have.
    package static func severalTowns(_ name: String, _ candidates: [String], count: Int) -> RegionsError {
        let more = count > candidates.count ? " and \(count - candidates.count) more" : ""
        return RegionsError(
            .ambiguousName,
            "'\(name)' is the name of \(count) towns: \(candidates.joined(separator: "; "))\(more). Add the country or region.",
            suggestions: candidates)
    }

    /// A town of the embedded list whose place is not on the map.
    package static func damagedTown(_ town: Town) -> RegionsError { .damaged("has the town \(town.id) off the map") }

    static func damaged(_ what: String) -> RegionsError {
        RegionsError(.badResource, "The embedded region tree \(what). The binary is damaged: install it again.")
    }
}
