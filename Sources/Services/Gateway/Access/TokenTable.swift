internal import Errors
internal import Files

/// What the holder of a token may do.
enum Role: String, Sendable, Hashable, CaseIterable {
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
struct TokenEntry: Sendable, Hashable {
    /// The name of its file.
    var name: String
    var digest: Digest
    var roles: Set<Role>
    /// Factor of the rates; 0 has no limit.
    var rate = 1.0
    /// `nil` has no limit.
    var extractsPerDay: Int?
    /// `nil` has no limit.
    var bytesPerDay: UInt64?
    /// The tilesets that it may use; `nil` allows all.
    var tilesets: Set<String>?
}

/// The tokens that may be used, as a value.
struct TokenTable: Sendable, Hashable {
    private var entries: [Digest: TokenEntry] = [:]

    /// The most bytes of a token file.
    static let maxBytes = 4_096

    init(_ entries: [TokenEntry] = []) { for entry in entries { self.entries[entry.digest] = entry } }

    /// How many tokens there are.
    var count: Int { entries.count }

    /// The entry of a token as the client sends it.
    func find(_ token: String) -> TokenEntry? {
        guard 1...256 ~= token.utf8.count else { return nil }
        return entries[Digest(of: Array(token.utf8))]
    }

    /// Whether the entry is still as it was.
    func has(_ entry: TokenEntry) -> Bool { entries[entry.digest] == entry }

    /// Reads a token file: the digest of the token, its roles, and limits.
    ///
    /// - Parameter name: Of the file, without its extension.
    /// - Throws: ``GatewayError`` `bad-configuration` naming the line.
    static func entry(_ text: String, name: String) throws(GatewayError) -> TokenEntry {
        func wrong(_ line: some StringProtocol, _ why: String) -> GatewayError {
            GatewayError(.badConfiguration, "Token file '\(name).token', line '\(line.prefix(60))': \(why).")
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
            throw GatewayError(.badConfiguration, "Token file '\(name).token' has no line 'sha256:'.")
        }
        guard !roles.isEmpty else {
            throw GatewayError(.badConfiguration, "Token file '\(name).token' has no line 'roles:'.")
        }
        var entry = TokenEntry(name: name, digest: digest, roles: roles)
        if let text = values["rate"] {
            guard let rate = Double(text), rate.isFinite, rate >= 0 else {
                throw wrong(text, "rate is a factor from 0")
            }
            entry.rate = rate
        }
        if let text = values["extracts_per_day"] {
            guard let count = Int(text), count >= 0 else { throw wrong(text, "extracts_per_day is a number from 0") }
            entry.extractsPerDay = count
        }
        if let text = values["bytes_per_day"] {
            guard let count = UInt64(text) else { throw wrong(text, "bytes_per_day is a number from 0") }
            entry.bytesPerDay = count
        }
        if let text = values["tilesets"] {
            entry.tilesets = Set(text.split(whereSeparator: { $0 == "," || $0 == " " }).map(String.init))
        }
        return entry
    }
}
