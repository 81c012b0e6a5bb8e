import Foundation

/// The query of an address, read and completed without changing what stands there.
struct QueryText {
    /// Everything before the `?`.
    private let path: Substring
    private var pairs: [(name: String, text: String)]

    init(_ address: String) {
        let address = address.prefix { $0 != "#" }
        path = address.prefix { $0 != "?" }
        pairs = address.dropFirst(path.count + 1).split(separator: "&").map { pair in
            (name: pair.prefix { $0 != "=" }.lowercased(), text: String(pair))
        }
    }

    /// The address again.
    var text: String { pairs.isEmpty ? String(path) : path + "?" + pairs.map(\.text).joined(separator: "&") }

    /// The value of a parameter, whatever the case of its name, with its percent-encoding undone; `nil` without one.
    subscript(name: String) -> String? {
        guard let pair = pairs.first(where: { $0.name == name }) else { return nil }
        let value = String(pair.text.dropFirst(name.count + 1))
        return value.removingPercentEncoding ?? value
    }

    /// Adds a parameter, or replaces the one of this name.
    mutating func set(_ name: String, _ value: String) {
        remove(name)
        pairs.append((name, "\(name)=\(value)"))
    }

    mutating func remove(_ name: String) { pairs.removeAll { $0.name == name } }

    /// The parameters that another query has in addition, except for some names.
    mutating func add(_ other: QueryText, except: Set<String>) {
        for pair in other.pairs where !except.contains(pair.name) && self[pair.name] == nil { pairs.append(pair) }
    }
}
