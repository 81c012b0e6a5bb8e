internal import WebRequests

/// The pattern of a path: texts and parameters, a segment each.
struct RoutePattern: Sendable, Hashable {
    private enum Part: Sendable, Hashable {
        case text(String)
        /// A parameter between two fixed texts, which may be empty.
        case parameter(String, before: String, after: String)
        /// One or more segments, at the end.
        case rest(String)
    }

    private let parts: [Part]

    /// Reads a template; a segment has one parameter at most.
    init(_ template: String) {
        parts = template.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { segment in
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
    var names: [String] {
        parts.compactMap { part in
            switch part {
            case .text: nil
            case .parameter(let name, _, _), .rest(let name): name
            }
        }
    }

    /// The values of the parameters when the path fits.
    func match(_ segments: [String]) -> [String: String]? {
        var values: [String: String] = [:]
        for (index, part) in parts.enumerated() {
            guard index < segments.count else { return nil }
            let segment = segments[index]
            switch part {
            case .text(let text):
                guard segment == text else { return nil }
            case .parameter(let name, let before, let after):
                guard segment.utf8.count > before.utf8.count + after.utf8.count, segment.hasPrefix(before),
                    segment.hasSuffix(after)
                else { return nil }
                values[name] = String(segment.dropFirst(before.count).dropLast(after.count))
            case .rest(let name):
                values[name] = segments[index...].joined(separator: "/")
                return values[name]?.isEmpty == false ? values : nil
            }
        }
        return segments.count == parts.count ? values : nil
    }
}
