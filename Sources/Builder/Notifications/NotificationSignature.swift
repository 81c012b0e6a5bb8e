internal import Cryptography
internal import TextFormats

/// Proves to a receiver that a notification comes from a holder of the secret, and when it was sent.
///
/// HMAC-SHA256 (RFC 2104) over the timestamp, a point and the body, as Stripe signs its webhooks
/// (https://docs.stripe.com/webhooks#verify-manually). The timestamp is signed too, so that a receiver can refuse an old
/// request that someone sends again.
public enum NotificationSignature {
    /// The value of the header `Packhorse-Signature`: `v1=` and 64 hexadecimal digits.
    ///
    /// - Parameter timestamp: The value of the header `Packhorse-Timestamp`: seconds since 1970.
    public static func text(_ body: [UInt8], timestamp: Int64, secret: [UInt8]) -> String {
        let code = SHA256.authenticationCode(of: Array("\(timestamp).".utf8) + body, key: secret)
        return "v1=\(Hexadecimal.text(code))"
    }
}
