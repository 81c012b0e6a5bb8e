internal import Cryptography
package import Digests

/// SHA-256 of bytes that come in pieces.
package struct DigestHasher {
    private var hash = SHA256()

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bytes) }

    package mutating func update(_ bytes: [UInt8]) { hash.update(bytes) }

    package func finish() -> Digest {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { place in
            guard let base = place.baseAddress else { preconditionFailure("A place of 32 bytes has an address.") }
            hash.finish(into: base)
            guard let digest = Digest(bytes: UnsafeRawBufferPointer(place)) else {
                preconditionFailure("SHA-256 has 32 bytes.")
            }
            return digest
        }
    }
}
