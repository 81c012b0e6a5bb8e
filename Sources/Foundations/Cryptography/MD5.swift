internal import CCrypto

/// MD5 (RFC 1321) of bytes that come in pieces; not secure against intentional changes.
package struct MD5 {
    private var state = ph_md5()

    /// The hash of some bytes, as ``finish()`` gives it.
    package static func text(of bytes: [UInt8]) -> String {
        var hash = MD5()
        hash.update(bytes)
        return hash.finish()
    }

    package init() { ph_md5_init(&state) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        ph_md5_update(&state, bytes.baseAddress, bytes.count)
    }

    package mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// The hash of all bytes up to now, as 32 upper-case hexadecimal digits.
    package func finish() -> String {
        var state = state
        var digest = [UInt8](repeating: 0, count: 16)
        ph_md5_final(&state, &digest)
        let digits = Array("0123456789ABCDEF".utf8)
        return String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
