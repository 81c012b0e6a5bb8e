import Foundation

/// Formats numbers for people.
package enum Units {
    /// Bytes with a decimal unit: `512 B`, `1.2 MB`.
    package static func bytes(_ count: UInt64) -> String {
        var value = Double(count)
        var unit = 0
        let names = ["B", "kB", "MB", "GB", "TB"]
        while value >= 1000, unit < names.count - 1 {
            value /= 1000
            unit += 1
        }
        return unit == 0 ? "\(count) B" : "\(decimal(value, places: value < 10 ? 2 : 1)) \(names[unit])"
    }

    /// Parses a size such as `50GB`, `1.5 TB` or `800MB`, with decimal units; a plain number is bytes.
    ///
    /// - Returns: Bytes, at most a million TB; `nil` for anything else.
    package static func size(_ text: String) -> UInt64? {
        let trimmed = text.filter { $0 != " " }.uppercased()
        for (suffix, factor) in [("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("B", 1), ("", 1)]
        where trimmed.hasSuffix(suffix) {
            let digits = trimmed.dropLast(suffix.utf8.count)
            guard digits.allSatisfy({ "0123456789.".contains($0) }), let number = Double(digits),
                number * factor <= 1e18
            else { return nil }
            return UInt64((number * factor).rounded())
        }
        return nil
    }

    /// Why a text is no distance that can be used, in one line.
    package struct DistanceProblem: Error {
        package let message: String
    }

    /// Parses a distance such as `2km`, `500 m` or `1.5mi`; a plain number is metres.
    ///
    /// - Parameters:
    ///   - name: What it is, for the message.
    ///   - limit: The largest, in metres.
    ///   - takesZero: Whether it may be 0.
    /// - Returns: Metres.
    package static func distance(
        _ text: String, as name: String, limit: Double, takesZero: Bool = false
    ) throws(DistanceProblem) -> Double {
        let trimmed = text.filter { $0 != " " }.lowercased()
        for (suffix, factor) in [("km", 1000.0), ("mi", 1609.344), ("m", 1.0), ("", 1.0)]
        where trimmed.hasSuffix(suffix) {
            let digits = trimmed.dropLast(suffix.count)
            guard let number = Double(digits), number.isFinite else {
                guard Double(digits.replacing(",", with: ".", maxReplacements: 1)) != nil else { break }
                throw DistanceProblem(message: "\(name) '\(text)' has a comma; write decimals with a point: 1.5km")
            }
            guard number > 0 || number == 0 && takesZero, number <= limit / factor else {
                let least = takesZero ? "0" : "more than 0"
                throw DistanceProblem(
                    message: "\(name) '\(text)' is out of range; expected \(least) to \(Int(limit / 1000)) km")
            }
            return number * factor
        }
        throw DistanceProblem(
            message: "\(name) '\(text)' is not a distance; expected for example 2km, 500m or 1.5mi")
    }

    /// A count with thousands separated: `1,234,567`.
    package static func count(_ value: some BinaryInteger) -> String {
        let digits = String(value.magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return value < 0 ? "-" + text : text
    }

    /// A count with its noun: `1 package`, `2 packages`.
    ///
    /// `plural` is needed where the plural is not the noun with an `s` or, after `ch`, an `es`.
    package static func count(_ value: some BinaryInteger, of noun: String, _ plural: String? = nil) -> String {
        let regular = if noun.hasSuffix("ch") { noun + "es" } else { noun + "s" }
        return "\(count(value)) \(value == 1 ? noun : plural ?? regular)"
    }

    /// A duration in the two largest units: `4 s`, `2 min 5 s`, `3 h 10 min`, `10 days 4 h`.
    package static func duration(seconds: Double) -> String {
        guard seconds.isFinite, seconds < 1e9 else { return "unknown" }
        let whole = Int(seconds.rounded())
        if whole < 1 { return "under 1 s" }
        if whole < 60 { return "\(whole) s" }
        if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
        if whole < 2 * 86_400 { return "\(whole / 3600) h \(whole % 3600 / 60) min" }
        return "\(whole / 86_400) days \(whole % 86_400 / 3600) h"
    }

    /// A number with a fixed count of decimals and a point, in any locale.
    package static func decimal(_ value: Double, places: Int) -> String {
        let scale = pow(10.0, Double(places))
        let scaled = (abs(value) * scale).rounded()
        guard scaled < 1e15 else { return "\(value)" }
        let whole = UInt64(scaled / scale)
        let fraction = UInt64(scaled) % UInt64(scale)
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard places > 0 else { return "\(sign)\(whole)" }
        let digits = String(fraction)
        return "\(sign)\(whole).\(String(repeating: "0", count: places - digits.count))\(digits)"
    }
}
