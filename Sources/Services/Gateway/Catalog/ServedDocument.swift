internal import Digests
internal import Files
internal import NIOCore
internal import TextFormats
internal import TileBodies

/// A document in memory, plain and packed; made once for each change.
struct ServedDocument: Sendable {
    let plain: ByteBuffer
    /// `nil` for a document that gzip does not make smaller.
    let packed: ByteBuffer?
    let digest: Digest
    let mediaType: String
    private let (plainTag, packedTag): (EntityTag, EntityTag)

    init(_ bytes: [UInt8], mediaType: String = "application/json") {
        plain = ByteBuffer(bytes: bytes)
        let gzip = Gzip.compress(bytes)
        packed = gzip.count < bytes.count ? ByteBuffer(bytes: gzip) : nil
        digest = Digest(of: bytes)
        (plainTag, packedTag) = (EntityTag(digest.hex), EntityTag("\(digest.hex)-gz"))
        self.mediaType = mediaType
    }

    /// The bytes for a client, their tag, and whether they are packed.
    func form(acceptEncoding: String?) -> (body: ByteBuffer, tag: EntityTag, isPacked: Bool) {
        guard let packed, AcceptEncoding.takes("gzip", acceptEncoding) else {
            return (plain, plainTag, false)
        }
        return (packed, packedTag, true)
    }
}
