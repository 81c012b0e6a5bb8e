internal import Digests

/// What a coordinator says about itself in a place: `0000000012-9a1f…-5c02…`, its epoch, a random number of this run, and the lineage of its state.
public struct PlaceClaim: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The epoch of the run.
    public let epoch: UInt32
    /// A random number of the run: of two restored coordinators with equal epochs one is higher.
    public let run: UInt64
    /// The number of the state, which is the same in all of its backups.
    public let lineage: UInt64

    /// A claim.
    public init(epoch: UInt32, run: UInt64, lineage: UInt64) {
        self.epoch = epoch
        self.run = run
        self.lineage = lineage
    }

    /// Reads a name; `nil` for anything that is not written by ``description``.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let epoch = BackupName.decimal(parts[0]), let run = Self.hexadecimal(parts[1]),
            let lineage = Self.hexadecimal(parts[2])
        else { return nil }
        self.init(epoch: epoch, run: run, lineage: lineage)
        guard description == text else { return nil }
    }

    /// The name of its object.
    public var description: String {
        "\(BackupName.tenDigits(epoch))-\(Self.sixteenDigits(run))-\(Self.sixteenDigits(lineage))"
    }

    /// By epoch, then by run.
    public static func < (left: PlaceClaim, right: PlaceClaim) -> Bool {
        (left.epoch, left.run, left.lineage) < (right.epoch, right.run, right.lineage)
    }

    private static func sixteenDigits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    private static func hexadecimal(_ text: Substring) -> UInt64? {
        guard text.utf8.count == 16, text.first != "+", text.first != "-" else { return nil }
        return UInt64(text, radix: 16)
    }
}
