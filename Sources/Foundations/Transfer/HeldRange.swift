/// The bytes that earlier attempts received of a range that is stored in memory.
///
/// The next attempt requests the rest.
///
/// Only bytes of an answer with a strong ETag are kept: the rest must come from the same representation (RFC 9110,
/// 13.1.5).
struct HeldRange: Sendable {
    private(set) var bytes: [UInt8] = []
    private var etag: String?

    /// Keeps the bytes of an interrupted 206 answer.
    mutating func append(_ received: [UInt8], _ headers: ResponseHeaders, of range: Range<UInt64>) {
        guard let told = headers.etag, told.hasPrefix("\""), headers.rangeStart == start(of: range) else { return }
        guard bytes.isEmpty || told == etag else { return forget() }
        guard bytes.count + received.count < range.count else { return forget() }
        (etag, bytes) = (told, bytes + received)
    }

    mutating func forget() { self = HeldRange() }

    /// The first missing byte.
    func start(of range: Range<UInt64>) -> UInt64 { range.lowerBound + UInt64(bytes.count) }

    /// Whether an answer continues the kept bytes.
    func fits(_ headers: ResponseHeaders) -> Bool { bytes.isEmpty || headers.etag == etag }
}
