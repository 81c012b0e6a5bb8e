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
    package var lines: [String] {
        let all = [titles.map { $0.uppercased() }] + rows
        let widths = titles.indices.map { column in all.map { DisplayWidth.columns($0[column]) }.max() ?? 0 }
        let numeric = titles.indices.map(isNumeric)
        return all.map { row in
            row.indices.filter { !titles[$0].isEmpty }.map { column in
                DisplayWidth.padded(row[column], to: widths[column], isRight: numeric[column])
            }.joined(separator: "  ").trimmedRight
        }
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
