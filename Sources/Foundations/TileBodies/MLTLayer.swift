/// A layer of a MapLibre Tile: what its table of columns says.
struct MLTLayer {
    /// UTF-8.
    let name: UnsafeRawBufferPointer
    let extent: Int
    private(set) var columns: [MLTColumn] = []
    /// Features, by the stream of their geometry types; 0 for a layer without geometry.
    private(set) var features = 0

    /// Reads the table, and steps over the streams, which fill the layer exactly.
    init(_ cursor: inout ByteCursor) throws(ScanFault) {
        name = try cursor.text()
        guard !name.isEmpty else { throw .layerWithoutName }
        extent = try cursor.number()
        guard extent > 0 else { throw .extent }
        let count = try cursor.number()
        // Each column takes at least one byte, so a larger count is refused before the loop.
        guard count <= cursor.remaining else { throw .truncated }
        var room = MLTScanner.columnLimit
        for _ in 0..<count { columns.append(try MLTColumn(&cursor, room: &room)) }
        guard columns.filter(\.isGeometry).count == 1, columns.filter(\.isID).count <= 1 else { throw .columns }
        for column in columns {
            let values = try column.skipStreams(&cursor)
            if column.isGeometry { features = values }
        }
        guard cursor.isAtEnd else { throw .trailing }
    }
}

/// A column of a layer, or of a struct.
///
/// Type codes: 0 to 3 ids, 4 geometry, 10 to 29 values (odd = some features have none), 30 a struct of texts with one dictionary.
struct MLTColumn {
    private let code: UInt8
    /// UTF-8; empty for ids and geometry, which have none.
    private let name: UnsafeRawBufferPointer
    private var children: [MLTColumn] = []

    var isID: Bool { code < 4 }
    var isGeometry: Bool { code == 4 }
    private var isStruct: Bool { code == 30 }
    private var isText: Bool { code == 28 || code == 29 }

    /// - Parameter room: How many columns may still be read; it is made smaller.
    init(_ cursor: inout ByteCursor, room: inout Int, isChild: Bool = false) throws(ScanFault) {
        code = try cursor.byte()
        guard code <= 4 || 10...30 ~= code, !isChild || 28...29 ~= code else { throw .column }
        room -= 1
        guard room >= 0 else { throw .tooManyColumns }
        name = code < 10 ? UnsafeRawBufferPointer(start: nil, count: 0) : try cursor.text()
        guard isStruct else { return }
        let count = try cursor.number()
        guard count <= cursor.remaining else { throw .truncated }
        for _ in 0..<count { children.append(try MLTColumn(&cursor, room: &room, isChild: true)) }
    }

    /// The fields that it gives features: a struct has one for each child, named after both.
    var fields: [(name: String, type: VectorTileSummary.FieldType)] {
        let name = String(decoding: name, as: UTF8.self)
        switch code {
        case 10, 11: return [(name, .boolean)]
        case 12...27: return [(name, .number)]
        case 28, 29: return [(name, .string)]
        case 30: return children.map { (name + String(decoding: $0.name, as: UTF8.self), .string) }
        default: return []
        }
    }

    /// Steps over the streams of the column.
    ///
    /// - Returns: The number of values of the first one.
    func skipStreams(_ cursor: inout ByteCursor) throws(ScanFault) -> Int {
        if isStruct {
            try skipStruct(&cursor)
            return 0
        }
        // Geometry and texts say how many streams follow; else it is one, and one before it when values may be missing.
        let count = isGeometry || isText ? try cursor.number() : 1 + Int(code & 1)
        guard count > 0 || isText else { throw .streams }
        var first = 0
        for number in 0..<count {
            let stream = try MLTStream(&cursor)
            if number == 0 { first = stream.values }
        }
        return first
    }

    /// Streams of the shared dictionary, then a count of streams and the streams of each child.
    private func skipStruct(_ cursor: inout ByteCursor) throws(ScanFault) {
        var left = try cursor.number()
        // What is no dictionary is stepped over as a whole.
        let hasDictionary = left > 1
        while left > 0 {
            left -= 1
            if try MLTStream(&cursor).isDictionary, hasDictionary { break }
        }
        guard hasDictionary else { return }
        for _ in children {
            for _ in 0..<(try cursor.number()) { _ = try MLTStream(&cursor) }
        }
    }
}

/// The header of a stream of values; its bytes are stepped over.
struct MLTStream {
    /// How many values it holds.
    let values: Int
    /// Whether it has the texts that other streams refer to.
    let isDictionary: Bool

    /// How many subtypes each kind of stream has: present (any), data, offsets, lengths.
    private static let subtypes: [UInt8] = [16, 6, 4, 7]

    init(_ cursor: inout ByteCursor) throws(ScanFault) {
        let type = try cursor.byte()
        guard type >> 4 < 4, type & 15 < Self.subtypes[Int(type >> 4)] else { throw .stream }
        isDictionary = type == 0x11 || type == 0x12
        let technique = try cursor.byte()
        let (first, second, packing) = (technique >> 5, technique >> 2 & 7, technique & 3)
        guard first < 6, second < 6, packing < 3 else { throw .stream }
        var count = try cursor.number()
        let length = try cursor.number()
        if first == 4 {
            // Morton codes: bits and shift.
            _ = (try cursor.number(), try cursor.number())
        } else if first == 3 || second == 3, packing != 0 {
            // Runs: how many, and of how many values.
            _ = try cursor.number()
            count = try cursor.number()
        }
        values = count
        _ = try cursor.part(length)
    }
}

extension ByteCursor {
    /// A varint of at most 32 bits, as all lengths and counts of MLT are.
    mutating func number() throws(ScanFault) -> Int {
        let value = try varint()
        guard value <= UInt64(UInt32.max) else { throw .varint }
        return Int(value)
    }

    /// A length and so many bytes of UTF-8.
    mutating func text() throws(ScanFault) -> UnsafeRawBufferPointer {
        let bytes = try part(try number()).rest
        guard String(validating: bytes, as: UTF8.self) != nil else { throw .text }
        return bytes
    }
}
