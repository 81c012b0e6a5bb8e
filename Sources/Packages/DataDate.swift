/// The date of a package's data as a number.
enum DataDate {
    /// Seconds from 1970 to the midnight, UTC, that begins a date such as `2026-10-01`; `nil` for any other text or an earlier date.
    ///
    /// Proleptic Gregorian calendar, in integers: the same on every machine.
    static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.map(\.utf8.count) == [4, 2, 2],
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2D }),
            let year = Int64(parts[0]), let month = Int64(parts[1]), let day = Int64(parts[2]), year >= 1970,
            (1...12).contains(month), day >= 1
        else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day <= lengths[Int(month) - 1] else { return nil }
        let past = year - 1
        let daysOfYears =
            (year - 1970) * 365 + (past / 4 - past / 100 + past / 400) - (1969 / 4 - 1969 / 100 + 1969 / 400)
        let days = daysOfYears + lengths.prefix(Int(month) - 1).reduce(0, +) + day - 1
        return days > 0 ? days * 86_400 : nil
    }
}
