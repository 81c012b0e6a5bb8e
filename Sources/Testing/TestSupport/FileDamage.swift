public import Foundation

/// Damages a whole file in ways that are the same in every run, to test that a verifier finds each of them.
public struct FileDamage: Sendable, CustomStringConvertible {
    /// What was done.
    public let description: String
    /// The damaged bytes.
    public let bytes: [UInt8]

    /// The file cut at places evenly spread over it, the first empty, and once more before its last byte.
    public static func cuts(_ whole: [UInt8], count: Int = 20) -> [FileDamage] {
        let lengths = (0..<count - 1).map { whole.count * $0 / (count - 1) } + [whole.count - 1]
        return lengths.map { FileDamage(description: "cut to \($0) bytes", bytes: Array(whole.prefix($0))) }
    }

    /// The file with one bit changed, at places a generator chooses.
    public static func flips(_ whole: [UInt8], count: Int = 200, seed: UInt64) -> some Sequence<FileDamage> {
        (0..<count).lazy.map { number in
            // SplitMix64 of a counter, so that the sequence may be walked again.
            let state = seed &+ UInt64(number + 1) &* 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            let bit = Int((mixed ^ (mixed >> 31)) % UInt64(whole.count * 8))
            var bytes = whole
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            return FileDamage(description: "bit \(bit % 8) of byte \(bit / 8) changed", bytes: bytes)
        }
    }

    /// All truncations and bit changes of a file that a verifier accepts; empty if the verifier is correct.
    ///
    /// - Parameters:
    ///   - file: A whole file; the verifier must accept it, or the first element says so.
    ///   - scratch: Where the damaged copies are made, one at a time; a name with the extension that the verifier
    ///     needs.
    ///   - isVerified: The verifier.
    public static func unseen(
        _ file: URL, scratch: URL, seed: UInt64, isVerified: (URL) throws -> Bool
    ) throws -> [String] {
        guard try isVerified(file) else { return ["the file is not verified before any damage"] }
        let whole = [UInt8](try Data(contentsOf: file))
        var unseen: [String] = []
        for damage in cuts(whole) + Array(flips(whole, seed: seed)) {
            try Data(damage.bytes).write(to: scratch)
            if try isVerified(scratch) { unseen.append(damage.description) }
        }
        return unseen
    }
}
