internal import CZeroMQ
public import Errors

/// The public half of a CURVE key.
public struct PublicKey: Hashable, Sendable, CustomStringConvertible {
    /// 40 characters of Z85 (ZeroMQ RFC 32).
    public let z85: String

    /// The key written as `z85`; white space around it is ignored.
    ///
    /// - Throws: ``ZeroMQError`` `bad-key`.
    public init(z85: String) throws(ZeroMQError) {
        let text = z85.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard Z85.decode(text) != nil else {
            throw ZeroMQError(
                .badKey, "'\(text.prefix(48))' is not a public key: 40 characters of Z85 are expected.")
        }
        self.z85 = text
    }

    /// The key of 32 raw bytes, or `nil` for another number of bytes.
    init?(bytes: [UInt8]) {
        guard let text = Z85.encode(bytes) else { return nil }
        z85 = text
    }

    /// The Z85 text: public, safe to log.
    public var description: String { z85 }
}

/// A CURVE key pair: the identity of a process in the cluster.
public struct KeyPair: Sendable, CustomStringConvertible {
    /// The public half.
    public let publicKey: PublicKey
    /// The secret half: 40 characters of Z85.
    let secret: String

    /// The pair of a secret key.
    ///
    /// - Throws: ``ZeroMQError`` `bad-key`.
    public init(secretZ85 secret: String) throws(ZeroMQError) {
        let text = secret.filter { !$0.isWhitespace }
        var derived = [CChar](repeating: 0, count: 41)
        guard Z85.decode(text) != nil, zmq_curve_public(&derived, text) == 0 else {
            throw ZeroMQError(.badKey, "The secret key is malformed: 40 characters of Z85 are expected.")
        }
        self.secret = text
        publicKey = try PublicKey(z85: Z85.text(derived))
    }

    /// A new random pair, from libsodium's generator.
    ///
    /// - Throws: ``ZeroMQError`` `library-failed` when libzmq was built without CURVE.
    public static func generate() throws(ZeroMQError) -> KeyPair {
        var open = [CChar](repeating: 0, count: 41)
        var secret = open
        guard zmq_curve_keypair(&open, &secret) == 0 else {
            throw ZeroMQError(.library, "This libzmq has no CURVE; install one built with libsodium.")
        }
        return try KeyPair(secretZ85: Z85.text(secret))
    }

    /// The public half.
    ///
    /// The secret half is never printed.
    public var description: String { "KeyPair(\(publicKey))" }
}

/// The text form of keys, as libzmq reads and writes it.
enum Z85 {
    static func decode(_ text: String) -> [UInt8]? {
        guard text.utf8.count == 40, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 32)
        guard zmq_z85_decode(&bytes, text) != nil, encode(bytes) == text else { return nil }
        return bytes
    }

    static func encode(_ bytes: [UInt8]) -> String? {
        guard bytes.count == 32 else { return nil }
        var text = [CChar](repeating: 0, count: 41)
        guard zmq_z85_encode(&text, bytes, bytes.count) != nil else { return nil }
        return Self.text(text)
    }

    static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
