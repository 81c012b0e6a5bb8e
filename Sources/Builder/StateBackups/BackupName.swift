internal import Foundation

/// The name of a backup in its place: `0000000012-0000000042-20261128T191500Z`.
///
/// Epoch and number make the order. So a list of names is enough to find the newest backup, whatever the clocks of two
/// coordinators say.
public struct BackupName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The epoch of the coordinator that made it.
    public let epoch: UInt32
    /// The number of the backup in this epoch, from 1.
    public let number: UInt32
    /// When the copy of the state was finished, in seconds since 1970, 0...253,402,300,799.
    public let seconds: Int64

    /// The end of the year 9999.
    static let lastSecond: Int64 = 253_402_300_799

    /// A name; times outside of their range are moved to its ends.
    public init(epoch: UInt32, number: UInt32, seconds: Int64) {
        self.epoch = epoch
        self.number = number
        self.seconds = min(max(seconds, 0), Self.lastSecond)
    }

    /// Reads a name; `nil` for anything that is not written by ``description``.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, text.utf8.count == 38, let epoch = Self.decimal(parts[0]),
            let number = Self.decimal(parts[1]),
            let seconds = Self.seconds(parts[2])
        else { return nil }
        self.init(epoch: epoch, number: number, seconds: seconds)
        // One backup has one name.
        guard description == text else { return nil }
    }

    /// The text.
    public var description: String {
        "\(Self.tenDigits(epoch))-\(Self.tenDigits(number))-\(Self.stamp(seconds))"
    }

    /// By epoch, then by number.
    public static func < (left: BackupName, right: BackupName) -> Bool {
        (left.epoch, left.number, left.seconds) < (right.epoch, right.number, right.seconds)
    }

    static func tenDigits(_ number: UInt32) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 10 - digits.utf8.count) + digits
    }

    /// Ten decimal digits of a number of 32 bits.
    static func decimal(_ text: Substring) -> UInt32? {
        guard text.utf8.count == 10, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt32(text)
    }

    private static func stamp(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).ISO8601Format(
            .init(dateSeparator: .omitted, timeSeparator: .omitted))
    }

    private static func seconds(_ text: Substring) -> Int64? {
        let style = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted)
        guard text.utf8.count == 16, let date = try? Date(String(text), strategy: style) else { return nil }
        return Int64(exactly: date.timeIntervalSince1970)
    }
}
