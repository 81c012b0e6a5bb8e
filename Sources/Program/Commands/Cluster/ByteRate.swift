import ArgumentParser
import TextFormats

/// A limit in bytes per second on the command line.
enum ByteRate {
    /// The values that a limit may have, which are those of `bytes_per_second` in a tileset.
    private static let range: ClosedRange<UInt64> = 10_000...1_000_000_000_000

    /// - Parameter text: A size, for example `500kB`; `nil` = no limit.
    /// - Returns: Bytes per second.
    /// - Throws: `ValidationError` for a text that is no size, and a value out of range.
    static func parse(_ text: String?, option: String) throws -> UInt64? {
        guard let text else { return nil }
        guard let size = Units.size(text), range.contains(size) else {
            throw ValidationError(
                "\(option) '\(text.prefix(60))' is not a number of bytes per second between 10kB and 1TB; expected for example 500kB or 2MB."
            )
        }
        return size
    }
}
