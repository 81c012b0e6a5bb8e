internal import Synchronization

/// Names of requests, in their answers and in the log.
enum RequestName {
    private static let seeds = (UInt64.random(in: 0...(.max)), UInt64.random(in: 0...(.max)))
    private static let count = Atomic<UInt64>(0)

    /// A name that no other request has: a UUID of random form (RFC 9562, version 4).
    ///
    /// Its bits are a count, mixed with random numbers of the process: bits of the system are a call for each name.
    static func new() -> String {
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        let high = mixed(seeds.0 &+ number) & ~0xF000 | 0x4000
        let low = mixed(seeds.1 &+ number) & ~(3 << 62) | 1 << 63
        return String(unsafeUninitializedCapacity: 36) { text in
            var (rest, place) = (high, 0)
            for digit in 0..<32 {
                if digit == 16 { rest = low }
                if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                    text[place] = UInt8(ascii: "-")
                    place += 1
                }
                let value = UInt8(truncatingIfNeeded: rest >> 60)
                text[place] = value < 10 ? 0x30 + value : 0x57 + value
                rest <<= 4
                place += 1
            }
            return place
        }
    }

    /// One of 2^64 values for each number (the finalizer of SplitMix64).
    private static func mixed(_ number: UInt64) -> UInt64 {
        var value = number &* 0x9E37_79B9_7F4A_7C15
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
