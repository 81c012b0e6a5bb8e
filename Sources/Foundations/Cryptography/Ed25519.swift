#if canImport(CryptoKit)
    internal import CryptoKit
    internal import Foundation
#else
    internal import CCrypto
#endif

/// Signatures with Ed25519 (RFC 8032): a secret key and a public key have 32 bytes, a signature 64.
package enum Ed25519 {
    /// A new secret key from the system's random source, which is made for keys.
    package static func makeSecretKey() -> [UInt8] {
        var source = SystemRandomNumberGenerator()
        return (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &source) }
    }

    /// The public key of a secret key; `nil` if that has not 32 bytes.
    package static func publicKey(of secret: [UInt8]) -> [UInt8]? {
        guard secret.count == 32 else { return nil }
        #if canImport(CryptoKit)
            return (try? Curve25519.Signing.PrivateKey(rawRepresentation: Data(secret))).map {
                Array($0.publicKey.rawRepresentation)
            }
        #else
            var key = [UInt8](repeating: 0, count: 32)
            return ph_ed25519_public_key(secret, &key) == 1 ? key : nil
        #endif
    }

    /// The signature of some bytes; `nil` if the secret key has not 32 bytes or the system has no memory.
    package static func sign(_ bytes: [UInt8], with secret: [UInt8]) -> [UInt8]? {
        guard secret.count == 32 else { return nil }
        #if canImport(CryptoKit)
            return (try? Curve25519.Signing.PrivateKey(rawRepresentation: Data(secret)).signature(for: Data(bytes)))
                .map { Array($0) }
        #else
            var signature = [UInt8](repeating: 0, count: 64)
            return ph_ed25519_sign(secret, bytes, bytes.count, &signature) == 1 ? signature : nil
        #endif
    }

    /// Whether a signature of some bytes was made with the secret key of a public key; false for any bytes that are no
    /// key or no signature.
    package static func isValid(_ signature: [UInt8], for bytes: [UInt8], key: [UInt8]) -> Bool {
        guard key.count == 32, signature.count == 64 else { return false }
        #if canImport(CryptoKit)
            guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: Data(key)) else { return false }
            return key.isValidSignature(Data(signature), for: Data(bytes))
        #else
            return ph_ed25519_verify(key, bytes, bytes.count, signature) == 1
        #endif
    }
}
