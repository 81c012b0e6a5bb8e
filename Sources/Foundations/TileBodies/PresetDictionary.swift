public import Errors

/// Unpacks bare deflate streams that were packed with a preset dictionary, as CARTO's packages may hold their tiles.
public enum PresetDictionary {
    /// The longest dictionary, in bytes: deflate looks back 32 KiB at most.
    public static let largest = 32 << 10

    /// Unpacks a stream that fills `bytes` exactly.
    ///
    /// The dictionary is put before the stream as a stored block, so that the stream finds it where it looks back; the
    /// unpacked block is removed from the result.
    /// - Source: RFC 1951, section 3.2.4 (a stored block begins and ends on whole bytes).
    /// - Throws: ``TileBodiesError`` `.badCoding` for a damaged stream or a dictionary above ``largest``, `.tooLarge`.
    public static func decompress(
        _ bytes: [UInt8], dictionary: [UInt8], limit: Int = Gzip.defaultLimit
    ) throws(TileBodiesError) -> [UInt8] {
        guard dictionary.count <= largest else {
            throw TileBodiesError(
                .badCoding, "the dictionary has \(dictionary.count) bytes; deflate supports at most \(largest)")
        }
        let count = UInt16(dictionary.count)
        let lengths = [count, ~count].flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        let inflater = Inflater(limit: limit + dictionary.count)
        let stream = [0] + lengths + dictionary + bytes
        var result: [UInt8] = []
        try stream.borrow { (input) throws(TileBodiesError) in
            try inflater.inflate(input)
            result = [UInt8](inflater.output.dropFirst(dictionary.count))
        }
        return result
    }
}
