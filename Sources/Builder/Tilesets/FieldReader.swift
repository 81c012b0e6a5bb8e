import Errors
internal import TextFormats

/// Reads the keys of one mapping, strictly: an unknown key is an error.
struct FieldReader {
    let name: String
    let path: String
    private let values: [String: JSONValue]

    /// - Parameter known: All keys that may occur.
    init(_ value: JSONValue, name: String, path: String = "", known: [String]) throws(TilesetsError) {
        guard case .object(let values) = value else {
            let what = path.isEmpty ? "it" : "'\(path)'"
            throw TilesetsError(
                path.isEmpty ? .badSyntax : .badValue,
                "Tileset file '\(name)': \(what) is \(value.kind); expected a mapping of keys.")
        }
        for key in values.keys.sorted() where !known.contains(key) {
            let nearest = Nearest.word(to: key, among: known)
            let hint = nearest.map { "; did you mean '\($0)'?" } ?? "; the keys are \(known.joined(separator: ", "))."
            throw TilesetsError(
                .unknownKey,
                "Tileset file '\(name)' has the unknown key '\(path.isEmpty ? key : "\(path).\(key)")'\(hint)")
        }
        self.name = name
        self.path = path
        self.values = values.filter { $0.value != .null }
    }

    subscript(key: String) -> JSONValue? { values[key] }

    func text(_ key: String) throws(TilesetsError) -> String? {
        guard let value = values[key] else { return nil }
        switch value {
        case .string(let text): return text
        case .number(let number):
            return number == number.rounded() && abs(number) < 1e15 ? "\(Int(number))" : "\(number)"
        case .null, .bool, .array, .object: throw wrong(key, value: value, expected: "text; put it in quotes")
        }
    }

    func number(_ key: String, in range: ClosedRange<Double>) throws(TilesetsError) -> Double? {
        guard let value = values[key] else { return nil }
        guard case .number(let number) = value, range.contains(number) else {
            throw wrong(
                key, value: value,
                expected: "a number within \(Self.show(range.lowerBound))...\(Self.show(range.upperBound))")
        }
        return number
    }

    func integer(_ key: String, in range: ClosedRange<Int>) throws(TilesetsError) -> Int? {
        guard let value = values[key] else { return nil }
        guard case .number(let number) = value, let integer = Int(exactly: number), range.contains(integer) else {
            throw wrong(key, value: value, expected: "a whole number within \(range.lowerBound)...\(range.upperBound)")
        }
        return integer
    }

    /// One whole number or a list of them.
    func integers(_ key: String, in range: ClosedRange<Int>) throws(TilesetsError) -> [Int]? {
        guard let value = values[key] else { return nil }
        let items = if case .array(let items) = value { items } else { [value] }
        guard !items.isEmpty else { throw wrong(key, value: value, expected: "a whole number or a list of them") }
        var numbers: [Int] = []
        for item in items {
            guard case .number(let number) = item, let integer = Int(exactly: number), range.contains(integer) else {
                throw wrong(
                    key, value: item, expected: "whole numbers within \(range.lowerBound)...\(range.upperBound)")
            }
            numbers.append(integer)
        }
        return numbers
    }

    func flag(_ key: String) throws(TilesetsError) -> Bool? {
        guard let value = values[key] else { return nil }
        guard case .bool(let flag) = value else { throw wrong(key, value: value, expected: "true or false") }
        return flag
    }

    /// One text or a list of texts.
    func texts(_ key: String) throws(TilesetsError) -> [String]? {
        guard let value = values[key] else { return nil }
        if case .string(let text) = value { return [text] }
        guard case .array(let items) = value, !items.isEmpty else {
            throw wrong(key, value: value, expected: "text or a list of texts")
        }
        var texts: [String] = []
        for item in items {
            guard case .string(let text) = item else { throw wrong(key, value: item, expected: "a list of texts") }
            texts.append(text)
        }
        return texts
    }

    func mapping(_ key: String, known: [String]) throws(TilesetsError) -> FieldReader? {
        guard let value = values[key] else { return nil }
        return try FieldReader(value, name: name, path: key, known: known)
    }

    func wrong(_ key: String, value: JSONValue, expected: String) -> TilesetsError {
        var found = value.kind
        if case .number(let number) = value { found = Self.show(number) }
        if case .array(let items) = value, items.isEmpty { found = "an empty list" }
        return TilesetsError(
            .badValue,
            "Tileset file '\(name)': '\(path.isEmpty ? key : "\(path).\(key)")' is \(found); expected \(expected).")
    }

    private static func show(_ number: Double) -> String {
        Int(exactly: number).map(String.init) ?? "\(number)"
    }
}
