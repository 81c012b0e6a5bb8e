/// A reading position in borrowed bytes; every read is limited by its end.
///
/// The only place of this module that follows a raw pointer. A cursor must not outlive the buffer it was made from.
struct ByteCursor {
    private var position: UnsafePointer<UInt8>
    private let end: UnsafePointer<UInt8>

    /// A cursor over the whole buffer, or `nil` when the buffer has no bytes.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return nil }
        position = base.assumingMemoryBound(to: UInt8.self)
        end = position + bytes.count
    }

    private init(position: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) {
        self.position = position
        self.end = end
    }

    @inline(__always) var isAtEnd: Bool { position >= end }

    var remaining: Int { end - position }

    /// What is left, as a buffer.
    var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: position, count: end - position) }

    /// Protocol Buffers varint of at most 64 bits.
    @inline(__always) mutating func varint() throws(ScanFault) -> UInt64 {
        guard position < end else { throw .truncated }
        let first = position.pointee
        position += 1
        return first < 0x80 ? UInt64(first) : try longVarint(first)
    }

    private mutating func longVarint(_ first: UInt8) throws(ScanFault) -> UInt64 {
        var value = UInt64(first & 0x7f)
        var shift: UInt64 = 7
        while true {
            guard position < end else { throw .truncated }
            let byte = position.pointee
            position += 1
            if shift == 63, byte > 1 { throw .varint }
            value |= UInt64(byte & 0x7f) &<< shift
            if byte < 0x80 { return value }
            shift &+= 7
            if shift > 63 { throw .varint }
        }
    }

    /// Steps over `count` varints.
    @inline(__always) mutating func skipVarints(_ count: Int) throws(ScanFault) {
        // Each takes at least one byte, so a count above the remaining bytes is refused before the loop.
        guard count <= end - position else { throw .truncated }
        var left = count
        // Eight bytes at a time: a byte below 0x80 ends a number, and what ends within eight bytes has fewer than 64 bits.
        while left > 0, end - position >= 8 {
            let word = UInt64(littleEndian: UnsafeRawPointer(position).loadUnaligned(as: UInt64.self))
            var ends = ~word & 0x8080_8080_8080_8080
            let found = ends.nonzeroBitCount
            guard found > 0 else { break }
            if found <= left {
                left &-= found
                position += 8 - ends.leadingZeroBitCount / 8
            } else {
                // The last number to skip ends within the word.
                for _ in 1..<left { ends &= ends &- 1 }
                position += ends.trailingZeroBitCount / 8 + 1
                left = 0
            }
        }
        while left > 0 {
            _ = try varint()
            left &-= 1
        }
    }

    /// The next `count` bytes as a cursor of their own.
    @inline(__always) mutating func part(_ count: Int) throws(ScanFault) -> ByteCursor {
        guard count >= 0, count <= end - position else { throw .truncated }
        let part = ByteCursor(position: position, end: position + count)
        position += count
        return part
    }

    /// A length-delimited field of Protocol Buffers.
    @inline(__always) mutating func delimited() throws(ScanFault) -> ByteCursor {
        let count = try varint()
        guard count <= UInt64(end - position) else { throw .truncated }
        return try part(Int(count))
    }

    /// Steps over the value of a field with this wire type; groups (3 and 4) are refused.
    @inline(__always) mutating func skipField(_ key: UInt64) throws(ScanFault) {
        guard key >> 3 != 0, key >> 3 < 1 << 29 else { throw .field }
        switch key & 7 {
        case 0: _ = try varint()
        case 1: _ = try part(8)
        case 2: _ = try delimited()
        case 5: _ = try part(4)
        default: throw .wireType
        }
    }

    mutating func byte() throws(ScanFault) -> UInt8 {
        guard position < end else { throw .truncated }
        defer { position += 1 }
        return position.pointee
    }

    mutating func big16() throws(ScanFault) -> Int {
        let high = try byte()
        return Int(high) << 8 | Int(try byte())
    }

    mutating func big32() throws(ScanFault) -> UInt32 {
        let high = try big16()
        return UInt32(high) << 16 | UInt32(try big16())
    }

    mutating func little32() throws(ScanFault) -> UInt32 { try big32().byteSwapped }
}

/// The number that four letters are when the first one is the highest byte, as types of chunks and boxes are compared.
func fourCC(_ name: StaticString) -> UInt32 {
    name.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
}

/// The error of a scanner, before it gets its message.
enum ScanFault: Error {
    case truncated
    case varint
    case wireType
    case field
    case version
    case tags
    case geometryType
    case geometry
    case layerWithoutName
    case layerWithoutVersion
    case layerNameTwice
    case tooManyLayers
    case extent
    case text
    case emptyLayer
    case column
    case columns
    case tooManyColumns
    case stream
    case streams
    case trailing

    var words: String {
        switch self {
        case .truncated: "it ends inside a field"
        case .varint: "a number has too many bits"
        case .wireType: "a field has an impossible wire type"
        case .field: "a field has an impossible number or wire type"
        case .version: "a layer has a version other than 1 and 2"
        case .tags: "a feature's tags are not pairs of indexes into the layer's keys and values"
        case .geometryType: "a feature's type is not unknown, point, line or polygon"
        case .geometry: "a feature's geometry is not a sequence of MoveTo, LineTo and ClosePath commands"
        case .layerWithoutName: "a layer has no name"
        case .layerWithoutVersion: "a layer has no version"
        case .layerNameTwice: "two layers have the same name"
        case .tooManyLayers: "it has more than \(VectorTileScanner.layerLimit) layers"
        case .extent: "a layer has extent 0"
        case .text: "a layer's name or key is not UTF-8"
        case .emptyLayer: "a layer has no bytes"
        case .column: "a column has an unknown type"
        case .columns: "a layer has not exactly one column of geometry, or several of ids"
        case .tooManyColumns: "a layer has more than \(MLTScanner.columnLimit) columns"
        case .stream: "a stream of values has an unknown kind or packing"
        case .streams: "a column has no stream of values"
        case .trailing: "bytes follow the last column of a layer"
        }
    }
}
