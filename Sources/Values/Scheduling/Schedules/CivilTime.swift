/// A minute of the proleptic Gregorian calendar in UTC.
///
/// Pure arithmetic on days since 1970, without clock and time zone.
struct CivilTime: Hashable, Sendable {
    var year: Int
    /// 1...12.
    var month: Int
    /// 1...31.
    var day: Int
    /// Minute of the day, 0..<1,440.
    var minute: Int

    static let minuteLength: Int64 = 60_000
    static let dayLength: Int64 = 86_400_000

    init(year: Int, month: Int, day: Int, minute: Int) {
        self.year = year
        self.month = month
        self.day = day
        self.minute = minute
    }

    /// The minute that contains an instant.
    ///
    /// Source: H. Hinnant, "chrono-compatible low-level date algorithms", civil_from_days: years begin in March, eras
    /// have 400 years.
    init(wall: Int64) {
        let days = Self.floor(wall, by: Self.dayLength)
        let shifted = days + 719_468
        let era = Self.floor(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
        month = Int(shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
        minute = Int((wall - days * Self.dayLength) / Self.minuteLength)
    }

    /// Its first instant, in milliseconds since 1970.
    var wall: Int64 { days * Self.dayLength + Int64(minute) * Self.minuteLength }

    /// Days since 1970-01-01.
    var days: Int64 {
        let shiftedYear = Int64(month <= 2 ? year - 1 : year)
        let era = Self.floor(shiftedYear, by: 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * Int64(month > 2 ? month - 3 : month + 9) + 2) / 5 + Int64(day) - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// 0 = Monday.
    var weekday: Int { Int((days + 3) - Self.floor(days + 3, by: 7) * 7) }

    static func daysIn(month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func floor(_ value: Int64, by divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor)
    }
}
