package import Digests

/// What the holder of a token may do.
package enum Role: String, Sendable, Hashable, CaseIterable {
    /// Reads.
    case viewer
    /// Reads, and gives orders.
    case `operator`
    /// Downloads where the gateway is private, and orders extracts.
    case client
    // Roles of keys of the cluster, which have no use of HTTP.
    case worker, merger
}

/// One token.
package struct TokenEntry: Sendable, Hashable {
    /// The name of its file.
    package var name: String
    package var digest: Digest
    package var roles: Set<Role>
    /// Factor of the rates; 0 has no limit.
    package var rate = 1.0
    /// `nil` has no limit.
    package var extractsPerDay: Int?
    /// `nil` has no limit.
    package var bytesPerDay: UInt64?
    /// The tilesets that it may use; `nil` allows all.
    package var tilesets: Set<String>?

    /// An entry without limits.
    package init(name: String, digest: Digest, roles: Set<Role>) {
        self.name = name
        self.digest = digest
        self.roles = roles
    }
}

/// Why a token file cannot be used; the text names the file and the line.
package struct TokenFileError: Error, CustomStringConvertible {
    package let description: String
}

extension TokenEntry {
    /// The most bytes of a token file.
    package static let maxBytes = 4_096

    /// Reads a token file: the digest of the token, its roles, and limits.
    ///
    /// - Parameter name: Of the file, without its extension.
    package init(file text: String, name: String) throws(TokenFileError) {
        func wrong(_ line: some StringProtocol, _ why: String) -> TokenFileError {
            TokenFileError(description: "Token file '\(name).token', line '\(line.prefix(60))': \(why).")
        }
        var digest: Digest?
        var roles: Set<Role> = []
        var values: [String: Substring] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let key = words[0].filter { $0 != " " }
            if key.isEmpty || key.hasPrefix("#") { continue }
            guard words.count == 2 else { throw wrong(line, "expected KEY: VALUE") }
            let value = words[1].drop { $0 == " " }.prefix { $0 != "#" }
            let clean = value[..<(value.lastIndex { $0 != " " }.map { value.index(after: $0) } ?? value.startIndex)]
            switch key {
            case "sha256":
                guard let found = Digest(hex: String(clean)) else {
                    throw wrong(line, "64 hexadecimal digits are needed")
                }
                digest = found
            case "roles":
                for word in clean.split(whereSeparator: { $0 == "," || $0 == " " }) {
                    guard let role = Role(rawValue: String(word)) else { throw wrong(line, "no role '\(word)' exists") }
                    roles.insert(role)
                }
            case "rate", "extracts_per_day", "bytes_per_day", "tilesets": values[key] = clean
            default: throw wrong(line, "no key '\(key)' exists")
            }
        }
        guard let digest else {
            throw TokenFileError(description: "Token file '\(name).token' has no line 'sha256:'.")
        }
        guard !roles.isEmpty else {
            throw TokenFileError(description: "Token file '\(name).token' has no line 'roles:'.")
        }
        self.init(name: name, digest: digest, roles: roles)
        if let text = values["rate"] {
            guard let rate = Double(text), rate.isFinite, rate >= 0 else {
                throw wrong(text, "rate is a factor from 0")
            }
            self.rate = rate
        }
        if let text = values["extracts_per_day"] {
            guard let count = Int(text), count >= 0 else { throw wrong(text, "extracts_per_day is a number from 0") }
            extractsPerDay = count
        }
        if let text = values["bytes_per_day"] {
            guard let count = UInt64(text) else { throw wrong(text, "bytes_per_day is a number from 0") }
            bytesPerDay = count
        }
        if let text = values["tilesets"] {
            tilesets = Set(text.split(whereSeparator: { $0 == "," || $0 == " " }).map(String.init))
        }
    }
}
