import Errors
import Yams

/// The keys of a flat YAML file with their lines, for files that hold the options of a command.
///
/// Scalars stay text, as they would be written on a command line.
package struct YAMLSettings: Sendable {
    /// One key.
    package struct Entry: Sendable {
        /// As written.
        package let key: String
        /// Its texts: one for a scalar, one for each item of a list, `NAME=VALUE` for each pair of a mapping.
        package let values: [String]
        /// Whether it is a list or a mapping.
        package let isList: Bool
        /// Counted from 1.
        package let line: Int
    }

    /// Why a text has no settings.
    package struct Refusal: Error, Sendable {
        /// Counted from 1.
        package let line: Int
        /// What is wrong there, and what to do.
        package let text: String
    }

    /// In the order of the file.
    package let entries: [Entry]

    /// Parses a file.
    ///
    /// An empty file, or one with comments alone, has no entries.
    ///
    /// - Throws: ``Refusal`` for a text that is not YAML, or not a mapping of texts and lists.
    package init(yaml: String) throws(Refusal) {
        let node: Node?
        do { node = try Yams.compose(yaml: yaml) } catch {
            let problem = YAMLProblem(error, in: yaml)
            throw Refusal(line: problem.place?.line ?? 1, text: "\(problem.what); \(problem.remedy)")
        }
        guard let node, node.null == nil else {
            entries = []
            return
        }
        guard let mapping = node.mapping else {
            throw Refusal(
                line: node.mark?.line ?? 1,
                text: "keys are expected here, one option each; write lines such as log-level: info")
        }
        var entries: [Entry] = []
        for (key, value) in mapping {
            let line = key.mark?.line ?? 1
            guard let name = key.scalar?.string, let texts = Self.texts(of: value) else {
                throw Refusal(
                    line: value.mark?.line ?? line,
                    text: "text, a list of texts or NAME: TEXT is expected here; put text with ': ' in quotes")
            }
            entries.append(Entry(key: name, values: texts, isList: value.scalar == nil, line: line))
        }
        self.entries = entries
    }

    private static func texts(of value: Node) -> [String]? {
        switch value {
        case .scalar(let scalar): return value.null == nil ? [scalar.string] : []
        case .sequence(let items):
            let texts = items.compactMap { $0.scalar?.string }
            return texts.count == items.count ? texts : nil
        case .mapping(let pairs):
            let texts = pairs.compactMap { pair -> String? in
                guard let name = pair.key.scalar?.string, let text = pair.value.scalar?.string else { return nil }
                return "\(name)=\(text)"
            }
            return texts.count == pairs.count ? texts : nil
        case .alias: return nil
        }
    }
}
