/// Groups problems with the same cause, so that each cause is printed once.
package enum EqualCauses {
    /// Number of examples per cause, and number of causes.
    private static let (maxExamples, maxCauses) = (3, 20)

    /// Lines of "thing: cause" texts, as `thing: cause`, or `cause: 53 times, such as thing, thing, thing`.
    ///
    /// - Parameter problems: Each begins with its object, up to the first colon with a space.
    package static func lines(_ problems: [String]) -> [String] {
        let pairs = problems.map { problem -> (thing: String, cause: String) in
            guard let colon = problem.firstRange(of: ": ") else { return ("", problem) }
            return (String(problem[..<colon.lowerBound]), String(problem[colon.upperBound...]))
        }
        return lines(pairs, of: "time")
    }

    /// Lines of objects with their causes, in the order of the first occurrence of each cause.
    ///
    /// - Parameter noun: The noun for the objects: "tile".
    package static func lines(_ pairs: [(thing: String, cause: String)], of noun: String) -> [String] {
        var order: [String] = []
        var things: [String: [String]] = [:]
        for pair in pairs {
            if things[pair.cause] == nil { order.append(pair.cause) }
            things[pair.cause, default: []].append(pair.thing)
        }
        let lines = order.prefix(maxCauses).map { cause -> String in
            let named = things[cause] ?? []
            guard named.count > maxExamples else {
                let list = named.filter { !$0.isEmpty }.joined(separator: ", ")
                return list.isEmpty ? cause : "\(list): \(cause)"
            }
            let examples = named.prefix(maxExamples).filter { !$0.isEmpty }.joined(separator: ", ")
            return "\(cause): \(Units.count(named.count, of: noun))" + (examples.isEmpty ? "" : ", such as \(examples)")
        }
        let more = order.count - maxCauses
        return lines + (more > 0 ? ["and \(Units.count(more, of: "other cause"))"] : [])
    }
}
