import Errors

/// Values that come from the environment: `${NAME}` in a text.
enum Secrets {
    /// The variables a text asks for, in order.
    static func names(in text: String) throws(TilesetsError) -> [String] {
        var names: [String] = []
        _ = try replace(text) { name throws(TilesetsError) in
            names.append(name)
            return ""
        }
        return names
    }

    /// Replaces `${NAME}` in a text by the environment's values.
    ///
    /// - Throws: ``TilesetsError`` `.missingSecret` naming the variable and `place`.
    static func fill(_ text: String, from environment: [String: String], place: String) throws(TilesetsError) -> String
    {
        try replace(text) { name throws(TilesetsError) in
            guard let value = environment[name], !value.isEmpty else {
                throw missing(name, isEmpty: environment[name] != nil, place: place)
            }
            return value
        }
    }

    static func missing(_ name: String, isEmpty: Bool = false, place: String) -> TilesetsError {
        TilesetsError(
            .missingSecret,
            "\(place) needs the environment variable \(name), which is \(isEmpty ? "empty" : "not set"); set it for every process that asks the source: the workers, and the coordinator where a schedule looks for the newest build."
        )
    }

    private static func replace(
        _ text: String, _ value: (String) throws(TilesetsError) -> String
    ) throws(TilesetsError) -> String {
        var filled = ""
        var rest = text[...]
        while let mark = rest.firstRange(of: "${") {
            filled += rest[..<mark.lowerBound]
            guard let close = rest[mark.upperBound...].firstIndex(of: "}") else {
                throw TilesetsError(.badValue, "A '${' in a header has no '}'; write ${NAME}.")
            }
            let name = String(rest[mark.upperBound..<close])
            guard isName(name) else {
                throw TilesetsError(.badValue, "'${...}' in a header holds no variable name; write ${NAME}.")
            }
            filled += try value(name)
            rest = rest[rest.index(after: close)...]
        }
        return filled + rest
    }

    /// Whether a text can name an environment variable.
    static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, !(0x30...0x39).contains(first), text.utf8.count <= 128 else { return false }
        return text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
        }
    }

    /// Whether a header of this name usually carries a secret.
    static func isSensitive(_ name: String) -> Bool {
        let name = name.lowercased()
        return ["auth", "cookie", "key", "token", "secret", "password", "credential", "signature"].contains {
            name.contains($0)
        }
    }

    /// The same for a query parameter; the short ones are whole names, as in signed addresses of Azure.
    private static func isSensitiveParameter(_ name: String) -> Bool {
        isSensitive(name) || ["sig", "sas", "pwd", "pass"].contains(name.lowercased())
    }

    /// The name of a query parameter of a URL that usually carries a secret and has a literal value.
    static func literalParameter(in url: String) -> String? {
        guard let mark = url.firstIndex(of: "?") else { return nil }
        for pair in url[url.index(after: mark)...].prefix(while: { $0 != "#" }).split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1)
            guard sides.count == 2, isSensitiveParameter(String(sides[0])), !sides[1].contains("{") else { continue }
            return String(sides[0])
        }
        return nil
    }
}
