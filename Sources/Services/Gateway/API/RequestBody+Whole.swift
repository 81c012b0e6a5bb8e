internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

extension Request {
    /// The whole body.
    ///
    /// - Parameters:
    ///   - most: A longer body is refused. Unit: bytes.
    ///   - tooLong: What the refusal of a longer body says.
    /// - Throws: ``Problem`` `too-large`; `body-cut` when the client went away before the end.
    func wholeBody(_ most: Int, orSay tooLong: @autoclosure () -> String) async throws(Problem) -> ByteBuffer {
        let cut = Problem(.bodyCut, "The connection ended before the end of the body.")
        let found: ByteBuffer
        do {
            found = try await body.collect(upTo: most)
        } catch {
            guard error is NIOTooManyBytesError else { throw cut }
            throw Problem(.tooLarge, tooLong())
        }
        // `collect` does not report a body that was cut; only its length shows it.
        guard let said = headers[.contentLength].flatMap({ Int($0) }), said > found.readableBytes else { return found }
        throw cut
    }
}
