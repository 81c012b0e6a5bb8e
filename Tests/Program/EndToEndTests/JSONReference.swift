import Foundation
import Testing

/// The tables of docs/reference/json.md, and which of their keys were printed.
final class JSONReference {
    /// One document: the keys that it may have, and the keys whose values are another document.
    struct Document {
        var keys: Set<String> = []
        var links: [String: String] = [:]
    }

    /// By the anchor of the heading, for example `failed-work`.
    let documents: [String: Document]
    private(set) var printed: [String: Set<String>] = [:]

    init() throws {
        let text = try String(contentsOf: URL(filePath: "docs/reference/json.md"), encoding: .utf8)
        var documents: [String: Document] = [:]
        for section in text.components(separatedBy: "\n## ").dropFirst() {
            let lines = section.components(separatedBy: "\n")
            guard lines.contains("| Key | Value |") else { continue }
            let anchor = lines[0].lowercased().replacing(" ", with: "-")
            documents[anchor] = lines.filter { $0.hasPrefix("| `") }.reduce(into: Document()) { document, line in
                let cells = line.components(separatedBy: "|")
                let words = cells[1].components(separatedBy: "`")
                let keys = stride(from: 1, to: words.count, by: 2).map { words[$0] }
                document.keys.formUnion(keys)
                guard let link = cells[2].firstMatch(of: /\(#([a-z-]+)\)/) else { return }
                for key in keys { document.links[key] = String(link.1) }
            }
        }
        self.documents = documents
    }

    /// Records the keys of a printed value; one that its table does not name fails the test.
    ///
    /// - Parameters:
    ///   - text: One JSON value.
    ///   - anchor: Its document.
    func read(_ text: String, as anchor: String) throws {
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8), options: [.fragmentsAllowed])
        visit(value, anchor, prefix: "")
    }

    private func visit(_ value: Any, _ anchor: String, prefix: String) {
        if let list = value as? [Any] {
            for one in list { visit(one, anchor, prefix: prefix) }
        }
        guard let object = value as? [String: Any] else { return }
        let document = documents[anchor] ?? Document()
        for (name, child) in object {
            let path = prefix + name
            if document.keys.contains(path) {
                printed[anchor, default: []].insert(path)
                if let link = document.links[path] {
                    visit(child, link, prefix: "")
                } else {
                    visit(child, anchor, prefix: path + ".")
                }
            } else if let any = document.keys.first(where: { Self.isPlaceholder($0, below: prefix) }) {
                printed[anchor, default: []].insert(any)
            } else {
                Issue.record("docs/reference/json.md does not name the key '\(path)' in section '\(anchor)'")
            }
        }
    }

    /// Whether a key is `PREFIX.WORD` with a word in upper case, which stands for any key.
    private static func isPlaceholder(_ key: String, below prefix: String) -> Bool {
        guard key.hasPrefix(prefix) else { return false }
        let rest = key.dropFirst(prefix.count)
        return !rest.isEmpty && rest.allSatisfy { $0.isLetter && $0.isUppercase }
    }

    /// Keys of a document that nothing printed.
    func unprinted(_ anchor: String) -> Set<String> {
        (documents[anchor]?.keys ?? []).subtracting(printed[anchor] ?? [])
    }
}
