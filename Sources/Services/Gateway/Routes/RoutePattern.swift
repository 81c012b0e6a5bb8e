/// The pattern of a path: texts and parameters, a segment each.
struct RoutePattern: Sendable, Hashable {
    enum Segment: Sendable, Hashable {
        case text(String)
        /// A parameter between two fixed texts, which may be empty.
        case parameter(String, before: String, after: String)
        /// One or more segments, at the end.
        case rest(String)

        /// Whether the segment of a path has this form.
        func fits(_ segment: String) -> Bool {
            switch self {
            case .text(let text): segment == text
            case .parameter(_, let before, let after):
                segment.utf8.count > before.utf8.count + after.utf8.count && segment.hasPrefix(before)
                    && segment.hasSuffix(after)
            case .rest: true
            }
        }

        /// The name of the parameter; `nil` for a text.
        fileprivate var name: String? {
            switch self {
            case .text: nil
            case .parameter(let name, _, _), .rest(let name): name
            }
        }
    }

    let segments: [Segment]

    /// Reads a template; a segment has one parameter at most.
    init(_ template: String) {
        segments = template.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { segment in
            guard let open = segment.firstIndex(of: "{"), let close = segment.lastIndex(of: "}") else {
                return .text(String(segment))
            }
            let name = String(segment[segment.index(after: open)..<close])
            if name.hasSuffix("+") { return .rest(String(name.dropLast())) }
            return .parameter(
                name, before: String(segment[..<open]), after: String(segment[segment.index(after: close)...]))
        }
    }

    /// The names of the parameters.
    var names: [String] { segments.compactMap(\.name) }

    /// The values of the parameters in a path that fits.
    func values(_ path: [String]) -> [String: String] {
        var values: [String: String] = [:]
        for (index, segment) in segments.enumerated() {
            switch segment {
            case .text: break
            case .parameter(let name, let before, let after):
                values[name] = String(path[index].dropFirst(before.count).dropLast(after.count))
            case .rest(let name): values[name] = path[index...].joined(separator: "/")
            }
        }
        return values
    }
}
