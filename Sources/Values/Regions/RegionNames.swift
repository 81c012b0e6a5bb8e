/// The names of a region: a dictionary, or or a list in the order of the languages, which costs no time to create.
struct RegionNames: Sendable {
    private enum Storage: Sendable {
        case dictionary([String: String])
        case list([String], languages: [String])
    }

    private let storage: Storage

    init(_ names: [String: String]) { storage = .dictionary(names) }

    /// Names in the order of the languages; languages beyond the last name have none.
    init(_ names: [String], languages: [String]) { storage = .list(names, languages: languages) }

    /// Names by language code.
    var all: [String: String] {
        switch storage {
        case .dictionary(let names): names
        case .list(let names, let languages):
            Dictionary(zip(languages, names), uniquingKeysWith: { first, _ in first })
        }
    }

    subscript(language: String) -> String? {
        switch storage {
        case .dictionary(let names): return names[language]
        case .list(let names, let languages):
            guard let place = languages.firstIndex(of: language), place < names.count else { return nil }
            return names[place]
        }
    }
}
