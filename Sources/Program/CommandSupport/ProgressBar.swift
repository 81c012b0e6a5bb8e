/// Progress in one line of a terminal: a bar, a title and as many facts as fit.
package struct ProgressBar {
    /// The completed share, 0...1; `nil` when the total is unknown, which draws no bar.
    package let fraction: Double?
    /// The title.
    ///
    /// It is shortened when not even the first fact fits next to it.
    package let title: String
    /// Facts, the most important first.
    ///
    /// The last ones are omitted first.
    package let facts: [String]

    package init(_ title: String, fraction: Double?, facts: [String]) {
        self.title = title
        self.fraction = fraction
        self.facts = facts
    }

    /// Columns that stay free at the end: for the `^C` that a terminal echoes, and for the cursor.
    static let margin = 3
    private static let widestBar = 24
    private static let narrowestBar = 8

    /// The line for a terminal.
    ///
    /// - Parameters:
    ///   - columns: Width of the terminal; the line leaves three columns free.
    ///   - isUnicode: Whether the terminal shows more than ASCII; otherwise other characters become question marks.
    package func line(columns: Int, isUnicode: Bool) -> String {
        let most = max(1, columns - Self.margin)
        let separator = isUnicode ? " · " : " - "
        let title = Self.plain(self.title, isUnicode)
        let facts = self.facts.map { Self.plain($0, isUnicode) }
        let bar = fraction == nil ? 0 : min(Self.widestBar, max(Self.narrowestBar, most / 4))
        let lead = bar == 0 ? 0 : bar + 1
        for count in stride(from: facts.count, through: 1, by: -1) {
            let text = ([title] + facts.prefix(count)).joined(separator: separator)
            if lead + DisplayWidth.columns(text) <= most { return drawn(bar, isUnicode) + text }
        }
        // The title is shortened for the first fact, then the bar for both.
        let first = facts.first.map { separator + $0 } ?? ""
        let mark = isUnicode ? "…" : "..."
        let left = most - lead - DisplayWidth.columns(first)
        if left >= 8 { return drawn(bar, isUnicode) + DisplayWidth.cut(title, to: left, mark: mark) + first }
        return DisplayWidth.cut((facts.first.map { $0 + separator } ?? "") + title, to: most, mark: mark)
    }

    /// The line for a log or a file: complete, without a bar.
    package var plain: String { ([title] + facts).joined(separator: " · ") }

    private func drawn(_ width: Int, _ isUnicode: Bool) -> String {
        guard let fraction, width > 0 else { return "" }
        let filled = Int(min(1, max(0, fraction)) * Double(width))
        let (full, empty) = isUnicode ? ("█", "░") : ("#", ".")
        return String(repeating: full, count: filled) + String(repeating: empty, count: width - filled) + " "
    }

    private static func plain(_ text: String, _ isUnicode: Bool) -> String {
        isUnicode ? text : String(text.map { $0.isASCII ? $0 : "?" })
    }
}
