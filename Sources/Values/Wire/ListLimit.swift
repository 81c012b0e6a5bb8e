/// The limit for the entries of one field in one body, over all its parents.
struct ListLimit: Hashable, Sendable {
    /// The names of the field and of its parents: `jobs.packages`.
    let field: String
    let most: Int
    /// Whether the list may be packed: its entries then follow each other in one field, as varints.
    let isPacked: Bool
    private let path: [UInt32]

    init(_ field: String, path: [UInt32], most: Int, isPacked: Bool = false) {
        self.field = field
        self.path = path
        self.most = most
        self.isPacked = isPacked
    }

    /// Counts the entries in `body` without allocating.
    ///
    /// - Returns: The count, or `nil` when the bytes are not a protobuf message.
    func count(in body: ArraySlice<UInt8>) -> Int? { count(path[...], in: body) }

    private func count(_ path: ArraySlice<UInt32>, in body: ArraySlice<UInt8>) -> Int? {
        guard let wanted = path.first else { return 1 }
        var total = 0
        var walker = FieldWalker(body)
        while let field = walker.next() {
            guard field.number == wanted else { continue }
            if isPacked, path.count == 1, let content = field.content {
                // Each varint ends with its only byte below 0x80.
                total += content.count { $0 < 0x80 }
                continue
            }
            guard let below = count(path.dropFirst(), in: field.content ?? []) else { return nil }
            total += below
        }
        return walker.isAtEnd ? total : nil
    }
}

/// Iterates over the fields of one protobuf message.
///
/// Groups count as malformed, because our schemas have none.
private struct FieldWalker {
    private let bytes: ArraySlice<UInt8>
    private var at: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        self.at = bytes.startIndex
    }

    var isAtEnd: Bool { at == bytes.endIndex }

    /// The next field, with its content if it is length-delimited; `nil` at the end or at invalid bytes.
    mutating func next() -> (number: UInt32, content: ArraySlice<UInt8>?)? {
        guard let tag = varint(), let number = UInt32(exactly: tag >> 3) else { return nil }
        switch tag & 7 {
        case 0: return varint() == nil ? nil : (number, nil)
        case 1: return take(8) == nil ? nil : (number, nil)
        case 5: return take(4) == nil ? nil : (number, nil)
        case 2:
            guard let length = varint().flatMap(Int.init(exactly:)), let content = take(length) else { return nil }
            return (number, content)
        default: return nil
        }
    }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= bytes.endIndex - at else { return nil }
        defer { at += count }
        return bytes[at..<(at + count)]
    }

    private mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard at < bytes.endIndex else { return nil }
            let byte = bytes[at]
            at += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }
}
