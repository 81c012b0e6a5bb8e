/// Reads and writes dates of HTTP headers.
public enum HTTPDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// The form that servers send: `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// - Parameter seconds: Since 1970, UTC; moved into the years 1970 to 9999.
    package static func text(secondsSince1970 seconds: Int64) -> String {
        let seconds = max(0, min(253_402_300_799, seconds))
        let (days, clock) = (seconds / 86_400, seconds % 86_400)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        // The inverse of daysSince1970.
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let time = "\(two(clock / 3_600)):\(two(clock / 60 % 60)):\(two(clock % 60))"
        let name = months[Int(month) - 1]
        let title = name.prefix(1).uppercased() + name.dropFirst()
        return "\(weekdays[Int(days % 7)]), \(two(day)) \(title) \(year) \(time) GMT"
    }

    /// Parses one of the three forms of RFC 9110, section 5.6.7.
    ///
    /// - Returns: Seconds since 1970, UTC; `nil` for any other text.
    public static func secondsSince1970(_ text: String) -> Int64? {
        guard text.utf8.count <= 64 else { return nil }
        let words = text.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "-" }).map { $0.lowercased() }
        // "Sun, 06 Nov 1994 08:49:37 GMT" and "Sunday, 06-Nov-94 08:49:37 GMT"; then "Sun Nov  6 08:49:37 1994".
        if words.count == 6, words[5] == "gmt" {
            return seconds(year: words[3], month: words[2], day: words[1], time: words[4])
        }
        guard words.count == 5 else { return nil }
        return seconds(year: words[4], month: words[1], day: words[2], time: words[3])
    }

    private static func seconds(year: String, month: String, day: String, time: String) -> Int64? {
        guard var years = number(year, 2...4), let month = months.firstIndex(of: month), let day = number(day, 1...2),
            (1...31).contains(day)
        else { return nil }
        if year.utf8.count == 2 { years += years < 70 ? 2_000 : 1_900 }
        let parts = time.split(separator: ":", omittingEmptySubsequences: false).compactMap {
            number(String($0), 2...2)
        }
        guard parts.count == 3, parts[0] < 24, parts[1] < 60, parts[2] <= 60 else { return nil }
        let clock = parts[0] * 3_600 + parts[1] * 60 + parts[2]
        return daysSince1970(year: years, month: Int64(month) + 1, day: day) * 86_400 + clock
    }

    /// Days in the proleptic Gregorian calendar, counted in years that begin in March.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func number(_ text: String, _ digits: ClosedRange<Int>) -> Int64? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }
}
