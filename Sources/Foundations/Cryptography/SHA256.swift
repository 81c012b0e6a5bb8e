internal import CCrypto

/// SHA-256 (FIPS 180-4) of bytes that come in pieces; a copy continues on its own.
package struct SHA256 {
    private var state = ph_sha256()

    package init() { ph_sha256_init(&state) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        ph_sha256_update(&state, bytes.baseAddress, bytes.count)
    }

    package mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// Writes the hash of all bytes up to now into a place of 32 bytes.
    package func finish(into digest: UnsafeMutablePointer<UInt8>) {
        var state = state
        ph_sha256_final(&state, digest)
    }

    /// The hash of all bytes up to now: 32 bytes.
    package func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        finish(into: &digest)
        return digest
    }

    /// HMAC-SHA256 (RFC 2104): 32 bytes that only a holder of the key can make.
    package static func authenticationCode(of bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        let block = 64
        var key = key
        if key.count > block {
            var hash = SHA256()
            hash.update(key)
            key = hash.finish()
        }
        key += [UInt8](repeating: 0, count: block - key.count)
        var (inner, outer) = (SHA256(), SHA256())
        inner.update(key.map { $0 ^ 0x36 })
        inner.update(bytes)
        outer.update(key.map { $0 ^ 0x5C })
        outer.update(inner.finish())
        return outer.finish()
    }
}
