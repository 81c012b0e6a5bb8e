import Tiles

/// A text table: columns padded to the widest cell, numbers aligned right.
package struct Table {
    private let titles: [String]
    private var rows: [[String]] = []

    /// - Parameter titles: The titles of the columns. A column with an empty title is omitted.
    package init(_ titles: String...) {
        self.titles = titles
    }

    package mutating func add(_ cells: String...) {
        rows.append(cells.map(VisibleText.escaped))
    }

    /// The lines, header first.
    ///
    /// The header alone shows that the list is empty.
    package var lines: [String] { lines(within: .max, lessNeeded: []).lines }

    /// The lines, header first, without columns for which there is no room.
    ///
    /// - Parameters:
    ///   - width: Columns of the terminal.
    ///   - lessNeeded: Titles that may be left out, the first one first.
    /// - Returns: The lines, and the titles that were left out.
    package func lines(within width: Int, lessNeeded: [String]) -> (lines: [String], hidden: [String]) {
        let all = [titles.map { $0.uppercased() }] + rows
        let widths = titles.indices.map { column in all.map { DisplayWidth.columns($0[column]) }.max() ?? 0 }
        let numeric = titles.indices.map(isNumeric)
        var shown = titles.indices.filter { !titles[$0].isEmpty }
        var hidden: [String] = []
        for title in lessNeeded where shown.reduce(2 * (shown.count - 1), { $0 + widths[$1] }) > width {
            shown.removeAll { titles[$0] == title }
            hidden.append(title)
        }
        let lines = all.map { row in
            shown.map { DisplayWidth.padded(row[$0], to: widths[$0], isRight: numeric[$0]) }
                .joined(separator: "  ").trimmedRight
        }
        return (lines, hidden)
    }

    private func isNumeric(_ column: Int) -> Bool {
        !rows.isEmpty && rows.allSatisfy { $0[column].first.map { $0.isNumber || $0 == "-" } ?? true }
    }
}

extension String {
    fileprivate var trimmedRight: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
