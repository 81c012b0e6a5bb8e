internal import SwiftProtobuf

extension PBLoggedChange {
    /// The change in the form of the state file.
    ///
    /// Equal changes give equal bytes.
    ///
    /// - Throws: ``WireError`` `bad-body`.
    public func encoded() throws(WireError) -> [UInt8] {
        var options = BinaryEncodingOptions()
        options.useDeterministicOrdering = true
        do {
            return try serializedBytes(options: options)
        } catch {
            throw WireError(.badBody, "A change cannot be encoded: \(error).")
        }
    }

    /// Decodes a stored change.
    ///
    /// - Throws: ``WireError`` `bad-body`.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        var options = BinaryDecodingOptions()
        options.messageDepthLimit = Message.maxDepth
        options.discardUnknownFields = true
        do {
            try self.init(serializedBytes: bytes, options: options)
        } catch {
            throw WireError(.badBody, "The bytes are not a logged change: \(error).")
        }
    }
}
