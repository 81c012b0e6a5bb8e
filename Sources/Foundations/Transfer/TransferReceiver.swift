/// Takes the body of an answer as it arrives.
///
/// All calls come from the transfer thread, in order: keep them short.
public protocol TransferReceiver: Sendable {
    /// Takes the head of an answer, before the first byte of its body; not called for an answer without a body.
    ///
    /// It is called again for the answer that follows a redirect.
    ///
    /// - Returns: Whether the body is wanted; `false` ends the transfer with `transport`.
    func begin(status: Int, headers: ResponseHeaders) -> Bool

    /// Takes bytes of the body.
    ///
    /// - Parameter bytes: Valid only during the call.
    /// - Returns: Whether more are wanted; `false` ends the transfer with `transport`.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool

    /// Decides about each redirect, besides ``TransferOptions/redirectRefusal``.
    ///
    /// - Parameter address: The address that was answered with the redirect.
    /// - Returns: Why it is not followed, which becomes the error's message; `nil` to follow it.
    func refusal(of redirect: String, from address: String) -> String?
}

extension TransferReceiver {
    /// Follows every redirect.
    public func refusal(of redirect: String, from address: String) -> String? { nil }
}
