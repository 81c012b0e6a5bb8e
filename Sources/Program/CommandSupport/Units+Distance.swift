import Errors
import TextFormats

extension Units {
    /// Parses a radius such as `2km`, `500 m` or `1.5mi`; a plain number is metres.
    ///
    /// - Throws: ``CLIError`` 64.
    package static func meters(_ text: String) throws -> Double {
        do throws(DistanceProblem) {
            return try distance(text, as: "radius", limit: 1_000_000_000)
        } catch {
            throw CLIError(.usage, error.message)
        }
    }
}
