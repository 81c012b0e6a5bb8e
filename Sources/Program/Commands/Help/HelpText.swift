internal import CommandSupport

/// Wraps the help texts of the argument parser to a width.
///
/// The parser uses lines without a limit, because it would break examples and wrap text that is already
/// wrapped. Here paragraphs, usage and descriptions are wrapped once. Examples are not wrapped, so that they can be
/// copied and pasted at any width.
package enum HelpText {
    /// The column of descriptions in the parser's output.
    private static let column = 26
    /// Wider lines are hard to read.
    private static let widest = 100

    /// - Parameters:
    ///   - text: As rendered without wrapping.
    ///   - columns: Width of the terminal, at least 20. Lines are not longer than that, except examples, and not longer
    ///     than 100.
    package static func fit(_ text: String, columns: Int) -> String {
        let width = min(widest, max(20, columns))
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let start = lines.firstIndex { $0.hasPrefix("USAGE: ") } ?? lines.endIndex
        let below = Array(lines[start...])
        return (overview(Array(lines[..<start]), width) + reference(below, width)).joined(separator: "\n")
    }

    /// Joins lines to paragraphs.
    ///
    /// Indented lines and examples do not change.
    private static func overview(_ lines: [String], _ width: Int) -> [String] {
        var (done, words): ([String], [String]) = ([], [])
        func flush() {
            done += wrapped(words.joined(separator: " "), width: width, indent: 0)
            words = []
        }
        for line in lines {
            let isExample = line.hasPrefix("Example: ") || line.hasPrefix("Examples:")
            guard line.isEmpty || line.hasPrefix(" ") || isExample else {
                words.append(line)
                continue
            }
            flush()
            if isExample, done.last?.isEmpty == false { done.append("") }
            done.append(line)
        }
        flush()
        return done
    }

    /// Wraps the usage, and descriptions with their indentation.
    private static func reference(_ lines: [String], _ width: Int) -> [String] {
        var done: [String] = []
        let margin = String(repeating: " ", count: column)
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("USAGE: ") || line.hasPrefix("       packhorse") {
                done += usage(line, width)
            } else if line.hasPrefix(margin) {
                done += wrapped(String(line.dropFirst(column)), width: width, indent: indent(width))
            } else if line.hasPrefix("  "), !line.hasPrefix("  See '") {
                let isAlone = lines.indices.contains(index + 1) && lines[index + 1].hasPrefix(margin)
                done += element(line, isAlone: isAlone || line.count <= column, width)
            } else {
                done.append(line)
            }
        }
        return done
    }

    /// An argument, option or command with its description.
    private static func element(_ line: String, isAlone: Bool, _ width: Int) -> [String] {
        guard !isAlone else { return [line] }
        let description = wrapped(String(line.dropFirst(column)), width: width, indent: indent(width))
        let label = String(line.prefix(column))
        guard indent(width) == column, let first = description.first else {
            return [String(label.reversed().drop { $0 == " " }.reversed())] + description
        }
        return [label + first.dropFirst(column)] + description.dropFirst()
    }

    private static func indent(_ width: Int) -> Int { width < 60 ? 6 : column }

    /// Breaks a usage line between words, not inside brackets.
    private static func usage(_ line: String, _ width: Int) -> [String] {
        var (words, depth): ([String], Int) = ([""], 0)
        for character in line.dropFirst(7) {
            if "[<".contains(character) { depth += 1 }
            if "]>".contains(character) { depth -= 1 }
            if character == " ", depth == 0 { words.append("") } else { words[words.count - 1].append(character) }
        }
        let joined = fill(words, width: width - 7)
        return joined.enumerated().map { ($0 == 0 ? String(line.prefix(7)) : String(repeating: " ", count: 7)) + $1 }
    }

    /// A paragraph in lines of at most `width` columns, including indentation.
    static func wrapped(_ text: String, width: Int, indent: Int = 0) -> [String] {
        guard !text.isEmpty else { return [] }
        let margin = String(repeating: " ", count: indent)
        return fill(text.split(separator: " ").map(String.init), width: width - indent).map { margin + $0 }
    }

    /// Words in lines of at most `width` columns.
    ///
    /// A longer word gets its own line.
    private static func fill(_ words: [String], width: Int) -> [String] {
        var lines: [String] = []
        for word in words {
            if let last = lines.last, DisplayWidth.columns(last) + 1 + DisplayWidth.columns(word) <= width {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(word)
            }
        }
        return lines
    }
}
