public import Errors
import Foundation

/// An address with the day of a build: `https://tiles.example.com/{date}.pmtiles`, `…/{date:yyyy-mm-dd}.pmtiles`.
public struct DatedAddress: Sendable, Hashable {
    /// The most requests for one look-up.
    public static let maxRequests = 10
    /// As written.
    public let text: String
    private let before: String
    private let after: String
    private let format: String

    /// - Throws: ``TilesetsError`` `.badTemplate` for a text without exactly one date.
    public init(_ text: String) throws(TilesetsError) {
        guard let open = text.firstRange(of: "{date"), let close = text[open.upperBound...].firstIndex(of: "}"),
            text[close...].firstRange(of: "{date") == nil
        else {
            throw TilesetsError(.badTemplate, "'\(BuildName.shown(text))' must have one {date}.")
        }
        self.text = text
        before = String(text[..<open.lowerBound])
        after = String(text[text.index(after: close)...])
        let written = text[open.upperBound..<close]
        format = written.isEmpty ? "yyyymmdd" : String(written.dropFirst())
        let rest = ["yyyy", "mm", "dd"].reduce(format) { $0.replacing($1, with: "") }
        guard written.isEmpty || written.hasPrefix(":"), format.contains("yyyy"), format.contains("mm"),
            rest.utf8.allSatisfy({ "-_./".utf8.contains($0) })
        else {
            throw TilesetsError(
                .badTemplate,
                "'{date\(BuildName.shown(String(written)))}' is no date of an address; write {date} for 20261124, or for example {date:yyyy-mm-dd}, {date:yyyy/mm} with yyyy, mm and dd."
            )
        }
    }

    /// Whether a text has a date.
    static func isMeant(by text: String) -> Bool { text.contains("{date") }

    /// The addresses of the last days, or months where the format has no day; the newest first, at most ``maxRequests``.
    ///
    /// - Parameter seconds: Now, since 1970, UTC.
    /// - Throws: ``TilesetsError`` `.badIndex` when an address has no name of a build.
    public func builds(before seconds: Double) throws(TilesetsError) -> [SourceBuild] {
        guard seconds.isFinite, abs(seconds) < 1e11 else {
            throw TilesetsError(.badValue, "The clock of this machine has no usable date.")
        }
        var days = Calendar(identifier: .gregorian)
        days.timeZone = .gmt
        let step: Calendar.Component = format.contains("dd") ? .day : .month
        let today = days.startOfDay(for: Date(timeIntervalSince1970: seconds))
        let parts = days.dateComponents([.year, .month], from: today)
        let start = step == .day ? today : days.date(from: parts) ?? today
        var builds: [SourceBuild] = []
        for back in 0..<Self.maxRequests {
            guard let date = days.date(byAdding: step, value: -back, to: start) else { break }
            let found = days.dateComponents([.year, .month, .day], from: date)
            let numbers = [("yyyy", found.year, 4), ("mm", found.month, 2), ("dd", found.day, 2)]
            let text = numbers.reduce(format) { text, part in
                let digits = "\(part.1 ?? 0)"
                let padded = String(repeating: "0", count: max(0, part.2 - digits.count)) + digits
                return text.replacing(part.0, with: padded)
            }
            builds.append(
                try SourceBuild(name: text.replacing("/", with: "-"), address: before + text + after))
        }
        return builds
    }
}
