/// The date of a package's data.
public enum DataDate {
    /// Seconds from 1970, UTC, to the midnight that begins a day such as `2026-10-01`, or to an instant such as `2026-10-01T12:00:00Z` or
    /// `2026-10-01T14:00:00+02:00`; `nil` for any other text and for days that no calendar has.
    ///
    /// Years 1 to 9999, proleptic Gregorian calendar, in integers: the same on every machine. A date before 1970 is below 0.
    public static func seconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard let day = days(bytes.prefix(10)) else { return nil }
        if bytes.count == 10 { return day * 86_400 }
        guard bytes.count >= 20, bytes[10] == UInt8(ascii: "T"), let time = seconds(ofDay: bytes[11..<19]),
            let offset = offset(bytes[19...])
        else { return nil }
        return day * 86_400 + time - offset
    }

    /// Days from 1970 to `YYYY-MM-DD`.
    private static func days(_ text: ArraySlice<UInt8>) -> Int64? {
        guard let parts = numbers(in: text, digits: [4, 2, 2], separator: UInt8(ascii: "-")) else { return nil }
        let (year, month, day) = (parts[0], parts[1], parts[2])
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard year >= 1, 1...12 ~= month, day >= 1, day <= lengths[Int(month) - 1] else { return nil }
        func leapYears(before year: Int64) -> Int64 { (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 }
        return (year - 1970) * 365 + leapYears(before: year) - leapYears(before: 1970)
            + lengths.prefix(Int(month) - 1).reduce(0, +) + day - 1
    }

    /// Seconds from midnight to `HH:MM:SS`.
    private static func seconds(ofDay text: ArraySlice<UInt8>) -> Int64? {
        guard let parts = numbers(in: text, digits: [2, 2, 2], separator: UInt8(ascii: ":")), parts[0] < 24,
            parts[1] < 60, parts[2] < 60
        else { return nil }
        return parts[0] * 3_600 + parts[1] * 60 + parts[2]
    }

    /// Seconds that clocks are ahead of UTC: `Z`, `+HH:MM` or `-HH:MM`.
    private static func offset(_ text: ArraySlice<UInt8>) -> Int64? {
        if text.elementsEqual("Z".utf8) { return 0 }
        guard let sign = text.first, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(sign),
            let parts = numbers(in: text.dropFirst(), digits: [2, 2], separator: UInt8(ascii: ":")), parts[0] < 24,
            parts[1] < 60
        else { return nil }
        let seconds = parts[0] * 3_600 + parts[1] * 60
        return sign == UInt8(ascii: "-") ? -seconds : seconds
    }

    /// Decimal numbers of exactly so many digits each.
    private static func numbers(in text: ArraySlice<UInt8>, digits: [Int], separator: UInt8) -> [Int64]? {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.map(\.count) == digits, parts.joined().allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return parts.map { $0.reduce(0) { $0 * 10 + Int64($1 - 0x30) } }
    }
}
