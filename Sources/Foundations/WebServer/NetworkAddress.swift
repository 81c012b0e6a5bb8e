internal import Foundation

/// An IP address; one of version 4 is in the range `::ffff:0:0/96`.
package struct NetworkAddress: Sendable, Hashable {
    /// The first 64 bits.
    package let high: UInt64
    /// The last 64 bits.
    package let low: UInt64

    /// Reads an address of either version, also in brackets and with a zone; `nil` for any other text.
    package init?(_ text: String) {
        var text = text[...]
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            text = text[text.index(after: text.startIndex)..<end]
        }
        text = text.prefix { $0 != "%" }
        var four = in_addr()
        if inet_pton(AF_INET, String(text), &four) == 1 {
            high = 0
            low = 0xFFFF_0000_0000 | UInt64(UInt32(bigEndian: four.s_addr))
            return
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, String(text), &six) == 1 else { return nil }
        (high, low) = withUnsafeBytes(of: &six) { raw in
            (
                UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    /// Whether the address is one of version 4.
    package var isVersion4: Bool { high == 0 && low >> 32 == 0xFFFF }

    /// 127.0.0.0/8 and ::1.
    package var isLoopback: Bool { isVersion4 ? low >> 24 & 0xFF == 127 : high == 0 && low == 1 }

    /// What one user has: the address of version 4, the network /64 of version 6.
    package var network: NetworkAddress { isVersion4 ? self : NetworkAddress(high: high, low: 0) }

    /// The unspecified address.
    package init(unknown: Void) { self.init(high: 0, low: 0) }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// A range of addresses, `10.0.0.0/8` or one address.
package struct NetworkRange: Sendable, Hashable {
    private let address: NetworkAddress
    /// How many leading bits of the 128 are equal.
    private let bits: Int

    /// Reads a range; `nil` for an invalid text.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = NetworkAddress(String(first)) else { return nil }
        let size = address.isVersion4 ? 32 : 128
        var length = size
        if parts.count == 2 {
            guard let number = Int(parts[1]), 0...size ~= number else { return nil }
            length = number
        }
        self.address = address
        bits = 128 - size + length
    }

    /// Whether an address is in the range.
    package func contains(_ other: NetworkAddress) -> Bool {
        let highMask: UInt64 = bits >= 64 ? .max : bits == 0 ? 0 : .max << UInt64(64 - bits)
        let lowMask: UInt64 = bits <= 64 ? 0 : .max << UInt64(128 - bits)
        return (address.high ^ other.high) & highMask == 0 && (address.low ^ other.low) & lowMask == 0
    }
}
