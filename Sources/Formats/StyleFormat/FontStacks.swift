internal import TextFormats

/// Finds the font stacks that a style can use.
///
/// A client that packs a region for offline use takes, for each symbol layer that has a `text-field`, the constant
/// `text-font`, every stop of a function, and every literal that an expression can produce; fonts that `format` names
/// for a part of a text are added, because they are needed too.
/// - Source: MapLibre style specification, "expressions" and "functions".
struct FontStacks {
    private(set) var stacks: Set<FontStack> = []
    /// Layers with an expression that may produce a font that is not written in the style.
    private(set) var undecided: [String] = []

    /// Names longer than this are no fonts.
    private static let longestName = 256
    private static let maxFonts = 16

    init(layers: [JSONValue]) {
        for layer in layers {
            guard case .object(let members) = layer, members["type"] == .string("symbol"),
                case .object(let layout)? = members["layout"], let field = layout["text-field"], field != .null,
                field != .string("")
            else { continue }
            if let font = layout["text-font"], font != .null {
                if !property(font), case .string(let id)? = members["id"] { undecided.append(id) }
            } else {
                stacks.insert(.standard)
            }
            sections(field, depth: 0)
        }
    }

    /// A constant, a function with stops, or an expression; returns whether all results are known.
    private mutating func property(_ value: JSONValue) -> Bool {
        switch value {
        case .array(let items):
            if case .string(let name)? = items.first, Self.operators.contains(name) { return outputs(value, depth: 0) }
            return add(value)
        case .object(let function):
            var known = false
            if case .array(let stops)? = function["stops"] {
                for case .array(let stop) in stops where stop.count == 2 { known = add(stop[1]) || known }
            }
            if let other = function["default"] { known = add(other) || known }
            return known
        case .null, .bool, .number, .string: return false
        }
    }

    /// Adds a list of names; whether it is one.
    private mutating func add(_ value: JSONValue) -> Bool {
        guard case .array(let items) = value, (1...Self.maxFonts).contains(items.count) else { return false }
        var names: [String] = []
        for item in items {
            guard case .string(let name) = item, (1...Self.longestName).contains(name.utf8.count) else { return false }
            names.append(name)
        }
        stacks.insert(FontStack(names))
        return true
    }

    /// Adds every literal that an expression can produce; returns whether there can be no others.
    private mutating func outputs(_ value: JSONValue, depth: Int) -> Bool {
        guard depth < 64, case .array(let items) = value, case .string(let name)? = items.first else { return false }
        let arguments = items.dropFirst()
        let candidates: [JSONValue]
        switch name {
        case "literal": return arguments.first.map { add($0) } ?? false
        // input, then pairs of label and output, then the fallback
        case "match": candidates = Self.every(second: arguments.dropFirst())
        // pairs of condition and output, then the fallback
        case "case": candidates = Self.every(second: arguments)
        // input, output, then pairs of stop and output
        case "step": candidates = Self.every(second: ArraySlice([.null] + arguments.dropFirst()))
        case "coalesce": candidates = Array(arguments)
        // pairs of name and value, then the result; the values may be what a `var` comes out as
        case "let": candidates = Self.every(second: arguments)
        case "var": return true
        // ["array", "string", 2, value]
        case "array": candidates = arguments.last.map { [$0] } ?? []
        default: return false
        }
        var areKnown = !candidates.isEmpty
        for candidate in candidates { areKnown = outputs(candidate, depth: depth + 1) && areKnown }
        return areKnown
    }

    /// The second element of each pair, and the remaining last element.
    private static func every(second items: ArraySlice<JSONValue>) -> [JSONValue] {
        var chosen: [JSONValue] = []
        for (index, item) in items.enumerated() where index % 2 == 1 || index == items.count - 1 {
            chosen.append(item)
        }
        return chosen
    }

    /// Looks for `{"text-font": …}` in the arguments of `format`, at any position in a text.
    private mutating func sections(_ value: JSONValue, depth: Int) {
        guard depth < 64, case .array(let items) = value else { return }
        for item in items {
            switch item {
            case .object(let options):
                if items.first == .string("format"), let font = options["text-font"] { _ = property(font) }
            case .array: sections(item, depth: depth + 1)
            case .null, .bool, .number, .string: break
            }
        }
    }

    /// The operators that distinguish an expression from a list of fonts.
    private static let operators: Set<String> = [
        "literal", "match", "case", "step", "coalesce", "let", "var", "array", "get", "at", "slice", "split",
        "feature-state", "global-state", "config", "concat", "to-string", "string", "object", "interpolate",
    ]
}
