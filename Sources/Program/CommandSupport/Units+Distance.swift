import Errors
import Foundation
import TextFormats

extension Units {
    /// Parses a distance such as `2km`, `500 m` or `1.5mi`; a plain number is metres.
    package static func meters(_ text: String) throws -> Double {
        let trimmed = text.replacingOccurrences(of: " ", with: "").lowercased()
        for (suffix, factor) in [("km", 1000.0), ("mi", 1609.344), ("m", 1.0), ("", 1.0)]
        where trimmed.hasSuffix(suffix) {
            guard let number = Double(trimmed.dropLast(suffix.count)), number > 0, number <= 1_000_000 / factor * 1000
            else { break }
            return number * factor
        }
        throw CLIError(.usage, "radius '\(text)' is not a distance; expected for example 2km, 500m or 1.5mi")
    }
}
