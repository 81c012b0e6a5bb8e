/// Minutes that repeat on a clock without time zone: `monthly 3 02:30`, `weekly mon 04:00`, `daily 01:00`, `hourly 15`.
///
/// In a month without the given day it is the last day, so `monthly 31` means the end of every month.
enum CalendarPattern: Hashable, Sendable, CustomStringConvertible {
    case monthly(day: Int, minute: Int)
    /// 0 = Monday.
    case weekly(weekday: Int, minute: Int)
    case daily(minute: Int)
    /// The minute of the hour.
    case hourly(minute: Int)

    private static let weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    /// Which part of a pattern is wrong, in words.
    struct WrongPart: Error {
        let text: String
    }

    /// - Parameter words: In lower case; `nil` when they are no pattern.
    /// - Throws: ``WrongPart`` when they have the form of a pattern, and a part is out of range or no number.
    init?(_ words: [String]) throws(WrongPart) {
        switch (words.first, words.count) {
        case ("monthly", 3):
            self = .monthly(day: try Self.number(words[1], in: 1...31, "day"), minute: try Self.time(words[2]))
        case ("weekly", 3):
            guard let weekday = Self.weekdays.firstIndex(of: words[1]) else {
                throw WrongPart(
                    text: "'\(words[1].prefix(20))' is not a weekday (\(Self.weekdays.joined(separator: ", ")))")
            }
            self = .weekly(weekday: weekday, minute: try Self.time(words[2]))
        case ("daily", 2): self = .daily(minute: try Self.time(words[1]))
        case ("hourly", 2): self = .hourly(minute: try Self.number(words[1], in: 0...59, "minute"))
        default: return nil
        }
    }

    private static func number(
        _ text: String, in range: ClosedRange<Int>, _ name: String
    ) throws(WrongPart) -> Int {
        guard (1...2).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }),
            let value = Int(text), range.contains(value)
        else {
            throw WrongPart(
                text: "the \(name) '\(text.prefix(20))' is not within \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    private static func time(_ text: String) throws(WrongPart) -> Int {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, parts[1].utf8.count == 2 else {
            throw WrongPart(text: "the time '\(text.prefix(20))' is not HH:MM")
        }
        return try number(parts[0], in: 0...23, "hour") * 60 + number(parts[1], in: 0...59, "minute")
    }

    /// The first minute of the pattern after a time.
    ///
    /// Both in milliseconds since 1970 on the same clock.
    func next(after wall: Int64) -> Int64 {
        let day = CivilTime.dayLength
        switch self {
        case .hourly(let minute):
            let hour = CivilTime.minuteLength * 60
            let start = CivilTime(wall: wall).wall / hour * hour + Int64(minute) * CivilTime.minuteLength
            return start > wall ? start : start + hour
        case .daily(let minute):
            var candidate = CivilTime(wall: wall)
            candidate.minute = minute
            return candidate.wall > wall ? candidate.wall : candidate.wall + day
        case .weekly(let weekday, let minute):
            var candidate = CivilTime(wall: wall)
            let ahead = (weekday - candidate.weekday + 7) % 7
            candidate.minute = minute
            let first = candidate.wall + Int64(ahead) * day
            return first > wall ? first : first + 7 * day
        case .monthly(let wanted, let minute):
            let now = CivilTime(wall: wall)
            for step in 0...1 {
                let month = (now.month - 1 + step) % 12 + 1
                let year = now.year + (now.month - 1 + step) / 12
                let last = CivilTime.daysIn(month: month, year: year)
                let candidate = CivilTime(year: year, month: month, day: min(wanted, last), minute: minute)
                if candidate.wall > wall { return candidate.wall }
            }
            // Not reached: next month's firing is after any instant of this month.
            return wall + 31 * day
        }
    }

    /// The canonical form.
    var description: String {
        switch self {
        case .monthly(let day, let minute): "monthly \(day) \(Self.text(minute))"
        case .weekly(let weekday, let minute): "weekly \(Self.weekdays[weekday]) \(Self.text(minute))"
        case .daily(let minute): "daily \(Self.text(minute))"
        case .hourly(let minute): "hourly \(minute)"
        }
    }

    private static func text(_ minute: Int) -> String {
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(two(minute / 60)):\(two(minute % 60))"
    }
}
