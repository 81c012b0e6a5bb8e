/// When a schedule fires: `monthly 3 02:30`, `weekly mon 04:00 Europe/Tallinn`, `daily 01:00 jitter 30m`, `hourly 15`.
///
/// Without a time zone the times are UTC. In a month without the given day it fires on the last day, so `monthly 31`
/// means the end of every month.
public struct CalendarRule: Hashable, Sendable, CustomStringConvertible {
    private let pattern: CalendarPattern
    /// `nil` = UTC.
    private let zone: ClockZone?
    /// Firings are later by up to this many minutes, each schedule by its own constant time.
    private let jitter: Int
    /// The longest jitter, in minutes: a day.
    private static let maxJitter = 1_440

    /// Parses a rule.
    ///
    /// Letter case and repeated blanks do not matter.
    ///
    /// - Throws: ``Refusal`` `bad-schedule` with an example.
    public init(_ text: String) throws(Refusal) {
        var words = text.split(separator: " ").map(String.init)
        jitter = try Self.takeJitter(&words)
        zone = try Self.takeZone(&words)
        let pattern: CalendarPattern?
        do throws(CalendarPattern.WrongPart) { pattern = try CalendarPattern(words.map { $0.lowercased() }) } catch {
            throw Refusal(
                "bad-schedule", "'\(text.prefix(60))' is not a schedule rule: \(error.text).",
                hint: "write for example \"monthly 3 02:30\", \"weekly mon 04:00\", \"daily 01:00\" or \"hourly 15\"")
        }
        guard let pattern else {
            throw Refusal(
                "bad-schedule", "'\(text.prefix(60))' is not a schedule rule.",
                hint: "write for example \"monthly 3 02:30\", \"weekly mon 04:00 Europe/Tallinn\", "
                    + "\"daily 01:00 jitter 30m\" or \"hourly 15\"; times without a time zone are UTC")
        }
        self.pattern = pattern
    }

    /// The rule with other times, another time zone or another jitter; what is empty stays.
    ///
    /// - Parameters:
    ///   - times: A rule; a time zone or a jitter in it is taken too.
    ///   - zone: A time zone, or `UTC`.
    ///   - jitter: `30m`, or `none`.
    /// - Throws: ``Refusal`` `bad-schedule` with an example.
    public func changed(times: String = "", zone: String = "", jitter: String = "") throws(Refusal) -> CalendarRule {
        let given = times.isEmpty ? nil : try CalendarRule(times)
        var text = (given ?? self).pattern.description
        let words = times.split(separator: " ").map { $0.lowercased() }
        let saysZone = given?.zone != nil || words.contains("utc")
        let known = (saysZone ? given : self)?.zone?.name ?? ""
        let name = zone.isEmpty ? known : zone
        if !name.isEmpty { text += " \(name)" }
        let minutes = given.flatMap { $0.jitter > 0 ? $0.jitter : nil } ?? self.jitter
        let part = jitter.isEmpty ? (minutes > 0 ? "\(minutes)m" : "none") : jitter
        if part != "none" { text += " jitter \(part)" }
        return try CalendarRule(text)
    }

    /// Takes `jitter 30m` or `jitter 2h` from the end.
    private static func takeJitter(_ words: inout [String]) throws(Refusal) -> Int {
        guard let place = words.firstIndex(where: { $0.lowercased() == "jitter" }) else { return 0 }
        guard words.count == place + 2 else {
            throw Refusal(
                "bad-schedule", "'jitter' is the last part of a rule, and one time follows it.",
                hint: "write for example \"monthly 3 02:30 jitter 30m\"")
        }
        let value = words[place + 1].lowercased()
        let digits = value.dropLast()
        guard let unit = ["m": 1, "h": 60][String(value.suffix(1))], (1...4).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(digits)
        else {
            throw Refusal(
                "bad-schedule", "The jitter '\(value.prefix(20))' is not a whole number of minutes or hours.",
                hint: "write for example \"monthly 3 02:30 jitter 30m\", or 2h")
        }
        guard (1...maxJitter).contains(number * unit) else {
            throw Refusal(
                "bad-schedule", "The jitter '\(value.prefix(20))' is out of range; expected 1m to 24h.",
                hint: "write for example \"monthly 3 02:30 jitter 30m\", or 2h")
        }
        words.removeSubrange(place...)
        return number * unit
    }

    /// Takes the name of a time zone from the end: `UTC`, a word with a slash, or any word after a time; an offset such as
    /// `+02:00` is named.
    private static func takeZone(_ words: inout [String]) throws(Refusal) -> ClockZone? {
        guard let last = words.last else { return nil }
        if last.lowercased() == "utc" {
            words.removeLast()
            return nil
        }
        let isAfterTime =
            words.dropLast().last?.first?.isNumber == true
            && last.first.map { $0.isLetter || $0 == "+" || $0 == "-" } == true
        guard last.contains("/") || isAfterTime else { return nil }
        guard let zone = ClockZone(last) else {
            throw Refusal(
                "bad-schedule", "'\(last.prefix(60))' is not a time zone.",
                hint: "write a name of the IANA time zone database, for example Europe/Tallinn")
        }
        words.removeLast()
        return zone
    }

    /// The first firing of a schedule after an instant.
    ///
    /// Both in milliseconds since 1970. Daylight saving: an hour that comes twice fires the first time; a time that is
    /// left out fires as if the clock had not been changed, so an hour later by the new time. `hourly` fires in each hour.
    ///
    /// - Parameter id: The schedule; which part of the jitter it gets follows from this name alone.
    public func next(after wall: Int64, for id: String = "") -> Int64 {
        let shift = Int64(delay(of: id)) * CivilTime.minuteLength
        let start = wall - shift
        guard let zone else { return pattern.next(after: start) + shift }
        return zone.next(pattern, after: start) + shift
    }

    /// Minutes, 0 to the jitter.
    private func delay(of id: String) -> Int {
        guard jitter > 0 else { return 0 }
        // FNV-1a, 64 bits: the same on every machine and in every version.
        let hash = id.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return Int(hash % UInt64(jitter + 1))
    }

    /// The rule in its canonical form.
    public var description: String {
        pattern.description + (zone.map { " \($0.name)" } ?? "") + (jitter > 0 ? " jitter \(jitter)m" : "")
    }
}
