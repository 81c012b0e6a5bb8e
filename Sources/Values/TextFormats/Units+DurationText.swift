extension Units {
    /// Parses a duration: `90s`, `5m`, `1h30m`, `2d`; `3:00:00` and `1-12:00:00` as Slurm writes them; a plain number is
    /// seconds.
    ///
    /// - Returns: Seconds, at most ten years; `nil` for anything else.
    package static func seconds(_ text: String) -> Double? {
        let trimmed = text.filter { $0 != " " }.lowercased()
        let seconds = trimmed.contains(":") ? clockSeconds(trimmed) : unitSeconds(trimmed)
        return seconds.flatMap { $0 <= 315_360_000 ? $0 : nil }
    }

    /// `[DAYS-][HOURS:]MINUTES:SECONDS`.
    private static func clockSeconds(_ text: String) -> Double? {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let clock = (parts.last ?? "").split(separator: ":", omittingEmptySubsequences: false).map(whole)
        guard (2...3).contains(clock.count), parts.count == 1 || clock.count == 3 else { return nil }
        var sum = 0.0
        for number in clock {
            guard let number else { return nil }
            sum = sum * 60 + number
        }
        guard parts.count == 2 else { return sum }
        return whole(parts[0]).map { $0 * 86_400 + sum }
    }

    /// Numbers with units, the largest unit first.
    private static func unitSeconds(_ text: String) -> Double? {
        var rest = text[...]
        if let number = whole(rest) { return number }
        var sum = 0.0
        for (names, factor) in [(["d"], 86_400.0), (["h"], 3_600), (["min", "m"], 60), (["sec", "s"], 1)] {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            let behind = rest.dropFirst(digits.count)
            guard !digits.isEmpty, let name = names.first(where: { behind.hasPrefix($0) }),
                let number = Double(digits)
            else { continue }
            sum += number * factor
            rest = behind.dropFirst(name.count)
        }
        return rest.isEmpty && !text.isEmpty ? sum : nil
    }

    private static func whole(_ digits: Substring) -> Double? {
        guard (1...12).contains(digits.utf8.count), digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Double(digits)
    }
}
