internal import Foundation

/// A time zone of the IANA database: what clocks on the wall show at an instant.
///
/// Pure: the tables come with the Swift runtime, not from the machine.
struct ClockZone: Hashable, Sendable {
    private static let names = Dictionary(
        TimeZone.knownTimeZoneIdentifiers.map { ($0.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
    /// Names of the database with digits and without a slash: zones of the United States.
    private static let zonesOfRules: Set<String> = ["EST5EDT", "CST6CDT", "MST7MDT", "PST8PDT"]
    private let zone: TimeZone

    /// The name as the database writes it; of a name that is not in its list, as it was given.
    let name: String

    /// - Parameter name: Letter case does not matter, but for names that the list of the runtime leaves out because
    ///   they are others for one zone, such as `Asia/Kolkata`; `nil` for a name that is not known.
    init?(_ name: String) {
        let known = Self.names[name.lowercased()] ?? name
        // The runtime also takes offsets such as GMT+2, which are no names of the database.
        guard known.first?.isLetter == true,
            known.contains("/") || !known.contains(where: { "+-:0123456789".contains($0) })
                || Self.zonesOfRules.contains(known),
            let zone = TimeZone(identifier: known)
        else { return nil }
        (self.zone, self.name) = (zone, known)
    }

    /// What the zone's clock is ahead of UTC at an instant; both in milliseconds.
    private func offset(at wall: Int64) -> Int64 {
        Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(wall) / 1_000))) * 1_000
    }

    /// The first instant after `wall` at which the zone's clock shows a minute of the pattern.
    ///
    /// Milliseconds since 1970, in UTC.
    func next(_ pattern: CalendarPattern, after wall: Int64) -> Int64 {
        if case .hourly = pattern { return nextHour(pattern, after: wall) }
        // From a day before: a time that is left out fires after the change.
        var local = wall + offset(at: wall) - CivilTime.dayLength
        while true {
            local = pattern.next(after: local)
            let instant = instant(of: local)
            if instant > wall { return instant }
        }
    }

    /// The instant at which the clock shows a time.
    ///
    /// The first of two; for a time that is left out, the instant by the offset before the change.
    private func instant(of local: Int64) -> Int64 {
        let before = local - offset(at: local - CivilTime.dayLength)
        let after = local - offset(at: local + CivilTime.dayLength)
        let shown = [before, after].filter { $0 + offset(at: $0) == local }
        return shown.min() ?? before
    }

    /// Each hour that passes, also those that the clock shows twice.
    private func nextHour(_ pattern: CalendarPattern, after wall: Int64) -> Int64 {
        let hour = 60 * CivilTime.minuteLength
        // A change of half an hour within the hour moves the minute.
        let offsets = Set([offset(at: wall), offset(at: wall + hour)])
        let candidates = offsets.flatMap { offset in
            let first = pattern.next(after: wall + offset) - offset
            return [first, first + hour].filter { self.offset(at: $0) == offset }
        }
        return candidates.min() ?? pattern.next(after: wall)
    }
}
