import Yams

/// Where a text is not YAML, and why, in words for people.
///
/// The parser reports its own words. They are compared here and never printed.
struct YAMLProblem: Equatable {
    /// The position, both counted from 1; `nil` when the parser names none.
    private(set) var place: Place?
    /// What is wrong there.
    private(set) var what: String
    /// What to do.
    private(set) var remedy: String

    /// A position in a text.
    struct Place: Equatable {
        let line: Int
        let column: Int
    }

    /// One sentence without a full stop: `line 2, column 1: a tab stands in the indentation`.
    var text: String { (place.map { "line \($0.line), column \($0.column): " } ?? "") + what }

    /// Explains why the parser refused a text.
    init(_ error: any Error, in yaml: String) {
        self.init(place: nil, "the text cannot be parsed", "check its quotes, colons and indentation")
        guard let error = error as? YamlError else { return }
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            self = Self.syntax(problem, within: context, at: mark, in: yaml)
        case .reader(_, let offset, _, _):
            self.init(
                place: offset.map { Self.place(at: $0, in: yaml) },
                "a character that is not allowed in text stands here",
                "write plain text in UTF-8; an archive is not a text file")
        case .duplicatedKeysInMapping(let keys, let context):
            let start = Self.place(context.mark, in: yaml)
            let names = keys.sorted().map { "'\($0.prefix(80))'" }.joined(separator: ", ")
            self.init(
                place: Self.repetition(of: keys, from: start, in: yaml) ?? start,
                "a key is written more than once: \(names)",
                "keep one of the lines")
        case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded: break
        }
    }

    private init(place: Place?, _ what: String, _ remedy: String) {
        (self.place, self.what, self.remedy) = (place, what, remedy)
    }

    /// The parser's words for a wrong structure, and ours.
    private static func syntax(
        _ problem: String, within context: YamlError.Context?, at mark: Mark, in yaml: String
    ) -> YAMLProblem {
        let here = place(mark, in: yaml)
        let start = context.map { place($0.mark, in: yaml) } ?? here
        func isWithin(_ words: String) -> Bool { context?.text.contains(words) ?? false }
        if problem.contains("tab character") || character(at: here, in: yaml) == "\t" {
            return YAMLProblem(
                place: here, "a tab stands where only spaces may stand", "indent with spaces; YAML allows no tabs there"
            )
        }
        if isWithin("quoted scalar"), problem.contains("end of stream") || problem.contains("document indicator") {
            return YAMLProblem(
                place: start, "the quotation mark here has no closing one", "add the closing quotation mark")
        }
        if problem.contains("escape character") || problem.contains("hexdecimal") || problem.contains("escape code") {
            return YAMLProblem(
                place: here, "a backslash begins an unknown escape", "write \\\\ for a backslash, or use single quotes")
        }
        if problem.contains("',' or ']'") {
            return YAMLProblem(
                place: start, "the list that begins here has no closing ']', or a comma is missing",
                "write lists as [a, b, c]")
        }
        if problem.contains("',' or '}'") {
            return YAMLProblem(
                place: start, "the mapping that begins here has no closing '}', or a comma is missing",
                "write mappings as {a: 1, b: 2}, and text that begins with '{' in quotes")
        }
        if problem.contains("mapping values") {
            return YAMLProblem(
                place: here, "a colon stands where no key can be",
                "put text with ': ' in quotes, and begin all keys of a mapping in the same column")
        }
        return unexpected(problem, at: here, from: start)
    }

    /// The same, for what is found where something else is expected.
    private static func unexpected(_ problem: String, at here: Place, from start: Place) -> YAMLProblem {
        if problem.contains("expected ':'") {
            return YAMLProblem(place: start, "the line has no colon after its key", "write it as key: value")
        }
        if problem.contains("undefined alias") {
            return YAMLProblem(
                place: here, "'*' refers to a name that is not defined", "put text that begins with '*' in quotes")
        }
        if problem.contains("cannot start any token") {
            return YAMLProblem(
                place: here, "a text cannot begin with this character", "put the text in quotes")
        }
        if problem.contains("node content") {
            return YAMLProblem(
                place: here, "a value was expected here",
                "close every '[' and '{'; put text that begins with one in quotes"
            )
        }
        if problem.contains("another document") {
            return YAMLProblem(place: here, "a second document begins here", "remove the line '---'")
        }
        if problem.contains("expected key") || problem.contains("'-' indicator") || problem.contains("not allowed") {
            return YAMLProblem(
                place: here, "a key or an item of a list was expected here",
                "begin all keys of a mapping in the same column, and put text that begins with '{', '[' or a quotation mark in quotes as a whole"
            )
        }
        return YAMLProblem(
            place: here, "the text cannot be parsed from here on", "put the value in quotes, and check the indentation")
    }

    /// The first line of a mapping that has a key of these for the second time; the parser names the line where the mapping begins.
    private static func repetition(of keys: [String], from start: Place, in yaml: String) -> Place? {
        let lines = yaml.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        var seen: Set<Substring> = []
        for (index, line) in lines.enumerated().dropFirst(start.line - 1) {
            // A mapping in a list begins behind the hyphen: its first line has its column, and the others have it as their indentation.
            let text = line.dropFirst(start.column - 1)
            let indent = line.prefix { $0 == " " }.count
            guard index >= start.line else {
                if let name = key(of: text, among: keys) { seen.insert(name) }
                continue
            }
            if line.allSatisfy(\.isWhitespace) { continue }
            guard indent >= start.column - 1 else { return nil }
            guard indent == start.column - 1, let name = key(of: text, among: keys) else { continue }
            if !seen.insert(name).inserted { return Place(line: index + 1, column: start.column) }
        }
        return nil
    }

    private static func key(of line: Substring, among keys: [String]) -> Substring? {
        guard line.contains(":") else { return nil }
        let name = line.prefix { $0 != ":" }.drop { "\"'".contains($0) }.prefix { !"\"' ".contains($0) }
        return keys.contains(String(name)) ? name : nil
    }

    /// The parser's position; the end of the text where it is beyond the last line.
    private static func place(_ mark: Mark, in yaml: String) -> Place {
        let end = place(at: yaml.count, in: yaml)
        return mark.line > end.line ? end : Place(line: mark.line, column: mark.column)
    }

    /// The position of a character that is counted from the start of the text.
    private static func place(at offset: Int, in yaml: String) -> Place {
        let before = yaml.prefix(max(0, offset))
        let line = before.reduce(1) { $1.isNewline ? $0 + 1 : $0 }
        return Place(line: line, column: before.reversed().prefix { !$0.isNewline }.count + 1)
    }

    /// The character at a position; `nil` outside of the text.
    private static func character(at place: Place, in yaml: String) -> Character? {
        let lines = yaml.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        guard lines.indices.contains(place.line - 1), place.column >= 1 else { return nil }
        return lines[place.line - 1].dropFirst(place.column - 1).first
    }
}
