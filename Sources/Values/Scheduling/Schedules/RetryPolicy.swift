/// How often a firing that failed is tried again, and when: `3,10m` = three times, after 10, 20 and 40 minutes.
public struct RetryPolicy: Hashable, Sendable, CustomStringConvertible {
    /// No attempt after the first.
    public static let none = RetryPolicy(count: 0, minutes: 0)
    /// The most further attempts.
    public static let maxCount = 10
    /// The longest wait before an attempt, in minutes: a day.
    private static let maxMinutes = 1_440

    /// Further attempts, 0...``maxCount``.
    public let count: Int
    /// The wait before the first of them; it doubles with each.
    private let minutes: Int

    private init(count: Int, minutes: Int) { (self.count, self.minutes) = (count, minutes) }

    /// Parses `3,10m` or `2,1h`; an empty text and `none` are ``none``.
    ///
    /// - Throws: ``Refusal`` `bad-schedule` with an example.
    public init(_ text: String) throws(Refusal) {
        guard !text.isEmpty, text != "none" else {
            self = .none
            return
        }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let count = Self.number(parts[0]), let value = Self.number(String(parts[1].dropLast())),
            let unit = ["m": 1, "h": 60][String(parts[1].suffix(1))], (1...Self.maxCount).contains(count),
            (1...Self.maxMinutes).contains(value * unit)
        else {
            throw Refusal(
                "bad-schedule",
                "'\(text.prefix(40))' does not say how often a run that failed is tried again, and after which time.",
                hint: "write for example 3,10m: 1 to \(Self.maxCount) times, after 1m to 24h; or none")
        }
        self.init(count: count, minutes: value * unit)
    }

    private static func number(_ text: String) -> Int? {
        guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }

    /// The wait after so many failed attempts, 1 or more; at most a day.
    ///
    /// Milliseconds.
    public func wait(after failures: Int) -> Int64 {
        Int64(min(minutes << min(max(failures, 1) - 1, 10), Self.maxMinutes)) * CivilTime.minuteLength
    }

    /// `3,10m`; empty = none.
    public var description: String { count == 0 ? "" : "\(count),\(minutes)m" }
}
