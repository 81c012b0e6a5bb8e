import Errors
import Foundation
import TextFormats

extension Units {
    /// Parses a distance such as `2km`, `500 m` or `1.5mi`; a plain number is metres.
    ///
    /// - Parameters:
    ///   - name: What it is, for the message.
    ///   - limit: The largest, in metres.
    ///   - takesZero: Whether it may be 0.
    package static func meters(
        _ text: String, as name: String = "radius", limit: Double = 1_000_000_000, takesZero: Bool = false
    ) throws -> Double {
        let trimmed = text.replacingOccurrences(of: " ", with: "").lowercased()
        for (suffix, factor) in [("km", 1000.0), ("mi", 1609.344), ("m", 1.0), ("", 1.0)]
        where trimmed.hasSuffix(suffix) {
            guard let number = Double(trimmed.dropLast(suffix.count)), number.isFinite else { break }
            guard number > 0 || number == 0 && takesZero, number <= limit / factor else {
                let least = takesZero ? "0" : "more than 0"
                throw CLIError(
                    .usage, "\(name) '\(text)' is out of range; expected \(least) to \(Int(limit / 1000)) km")
            }
            return number * factor
        }
        throw CLIError(.usage, "\(name) '\(text)' is not a distance; expected for example 2km, 500m or 1.5mi")
    }
}
