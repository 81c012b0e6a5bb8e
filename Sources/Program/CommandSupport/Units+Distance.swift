import Errors
import TextFormats

extension Units {
    /// Parses a radius such as `2km`, `500 m` or `1.5mi`; a plain number is metres.
    ///
    /// - Throws: ``CLIError`` 64.
    package static func meters(_ text: String) throws -> Double {
        guard let meters = distance(text, limit: 1_000_000_000) else {
            throw CLIError(.usage, "radius '\(text)' is not a distance; expected for example 2km, 500m or 1.5mi")
        }
        return meters
    }
}
