internal import Crypto
package import Digests

/// SHA-256 of bytes that come in pieces.
package struct DigestHasher {
    private var hash = SHA256()

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bufferPointer: bytes) }

    package mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    package func finish() -> Digests.Digest {
        guard let digest = hash.finalize().withUnsafeBytes({ Digests.Digest(bytes: $0) }) else {
            preconditionFailure("SHA-256 has 32 bytes.")
        }
        return digest
    }
}
