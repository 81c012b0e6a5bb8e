internal import SwiftProtobuf

extension Message {
    /// Deeper nesting is refused.
    ///
    /// The deepest of the schema is Jobs › JobStatus › TileFailure › Tile.
    static let maxDepth = 8

    /// The type of this message.
    public var type: MessageType { parts.type }

    /// The body's bytes in canonical form: equal messages give equal bytes.
    ///
    /// Whoever receives them refuses no size and no length of a list.
    ///
    /// - Throws: ``WireError`` `too-large`, `too-many`, or `bad-body` for text that cannot be encoded.
    func encodedBody() throws(WireError) -> [UInt8] {
        let (type, body) = parts
        var options = BinaryEncodingOptions()
        options.useDeterministicOrdering = true
        let bytes: [UInt8]
        do {
            bytes = try body.serializedBytes(options: options)
        } catch {
            throw WireError(.badBody, "The \(type) message cannot be encoded: \(error).")
        }
        try Self.checkSize(type, bytes.count)
        try Self.checkLists(type, bytes)
        return bytes
    }

    /// Decodes and checks the body of a message.
    ///
    /// Readers of the message need no further checks of digests, ranges, choices and list lengths.
    ///
    /// - Throws: ``WireError`` `too-large`, `too-many`, `bad-body` or `bad-value`.
    init(_ type: MessageType, decoding body: [UInt8]) throws(WireError) {
        try Self.checkSize(type, body.count)
        try Self.checkLists(type, body)
        self = try Self.decode(type, body)
        try checkFields()
    }

    private static func checkSize(_ type: MessageType, _ count: Int) throws(WireError) {
        guard count <= type.maxBodyBytes else {
            throw WireError(
                .tooLarge, "The \(type) message has \(count) bytes; the limit for its type is \(type.maxBodyBytes).")
        }
    }

    private static func checkLists(_ type: MessageType, _ body: [UInt8]) throws(WireError) {
        for limit in type.listLimits {
            guard let count = limit.count(in: body[...]) else {
                throw WireError(.badBody, "The body of the \(type) message is not a protobuf message.")
            }
            guard count <= limit.most else {
                throw WireError(
                    .tooMany,
                    "The \(type) message has \(count) entries in \(limit.field); the limit is \(limit.most).")
            }
        }
    }

    static func decoded<Body: SwiftProtobuf.Message>(
        _ bytes: [UInt8], _ type: MessageType
    ) throws(WireError) -> Body {
        var options = BinaryDecodingOptions()
        options.messageDepthLimit = maxDepth
        options.discardUnknownFields = true
        do {
            return try Body(serializedBytes: bytes, options: options)
        } catch {
            throw WireError(.badBody, "The body of the \(type) message is not a protobuf message: \(error).")
        }
    }
}
