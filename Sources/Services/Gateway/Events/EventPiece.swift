internal import NIOCore

/// What a stream sends next.
struct EventPiece: Sendable, Equatable {
    /// Empty when there was no event.
    var text: ByteBuffer
    /// The number of the last event that the stream has got with it.
    var last: UInt64
}
