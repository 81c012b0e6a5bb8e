/// What earlier attempts received of a range that goes to memory; the next attempt asks for the rest.
///
/// Only an answer with a strong ETag leaves something: the rest has to come from the same bytes (RFC 9110, 13.1.5).
struct HeldRange: Sendable {
    private(set) var bytes: [UInt8] = []
    private var etag: String?

    /// Keeps what a broken-off 206 answer brought.
    mutating func keep(_ received: [UInt8], _ headers: ResponseHeaders, of range: Range<UInt64>) {
        guard let told = headers.etag, told.hasPrefix("\""), headers.rangeStart == start(of: range) else { return }
        guard bytes.isEmpty || told == etag else { return forget() }
        guard bytes.count + received.count < range.count else { return forget() }
        (etag, bytes) = (told, bytes + received)
    }

    mutating func forget() { self = HeldRange() }

    /// The first byte that is still missing.
    func start(of range: Range<UInt64>) -> UInt64 { range.lowerBound + UInt64(bytes.count) }

    /// Whether an answer goes on with what is held.
    func fits(_ headers: ResponseHeaders) -> Bool { bytes.isEmpty || headers.etag == etag }
}
