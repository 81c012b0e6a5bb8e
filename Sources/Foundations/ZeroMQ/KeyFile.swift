public import Errors
internal import Files
public import Foundation

/// Key files: `<name>.key` contains a secret and is readable only by its owner; `<name>.pub` contains the public half.
///
/// Both are text: lines beginning with `#` are comments, and the first other line is the key in Z85. A public key may
/// be followed by a line such as `roles: worker merger`; see ``PeerRoles``.
public enum KeyFile {
    /// Longest key file read.
    ///
    /// Unit: bytes.
    static let maxBytes = 4096
    /// The first line of a public key's file.
    ///
    /// A secret key's file differs only in this line.
    private static let publicMark = "# Packhorse public key."

    /// Reads a secret key.
    ///
    /// - Throws: ``ZeroMQError`` `key-missing`, `key-file`, `key-permissions` when others may read it, or `bad-key`.
    public static func readSecret(_ url: URL) throws(ZeroMQError) -> KeyPair {
        let file = try read(url)
        guard !file.bytes.starts(with: publicMark.utf8) else {
            throw ZeroMQError(
                .badKey,
                "'\(url.path)' is the public half of a key. Use the secret half, the .key file of the same pair.")
        }
        if let leak = file.leak {
            throw ZeroMQError(.keyPermissions, "The secret key '\(url.path)' \(leak)")
        }
        do {
            return try KeyPair(secretZ85: meaningful(file.bytes).first ?? "")
        } catch {
            throw ZeroMQError(.badKey, "'\(url.path)': \(error.message) Create one with: packhorse keygen")
        }
    }

    /// Reads a public key.
    ///
    /// - Throws: ``ZeroMQError`` `key-missing`, `key-file`, `key-permissions` when others may change it, or `bad-key`.
    public static func readPublic(_ url: URL) throws(ZeroMQError) -> PublicKey {
        try readEntry(url).key
    }

    /// Reads a public key and the roles its file grants.
    ///
    /// - Throws: ``ZeroMQError`` `key-missing`, `key-file`, `key-permissions` when others may change it, `bad-key` or
    /// `bad-role`.
    public static func readEntry(_ url: URL) throws(ZeroMQError) -> (key: PublicKey, roles: PeerRoles) {
        let file = try read(url)
        if let tampering = file.tampering {
            throw ZeroMQError(.keyPermissions, "The key '\(url.path)' \(tampering)")
        }
        do {
            return try parse(file.bytes)
        } catch {
            throw ZeroMQError(error.code, "'\(url.path)': \(error.message)")
        }
    }

    /// Parses the content of a public key's file.
    ///
    /// A line that is not a comment, a key or a list of roles is refused: a misspelt `roles:` must not grant every
    /// role.
    ///
    /// - Throws: ``ZeroMQError`` `bad-key` or `bad-role`.
    package static func parse(_ bytes: [UInt8]) throws(ZeroMQError) -> (key: PublicKey, roles: PeerRoles) {
        var lines = meaningful(bytes)[...]
        let key = try PublicKey(z85: lines.popFirst() ?? "")
        guard let line = lines.popFirst() else { return (key, .unstated) }
        guard line.hasPrefix("roles:"), lines.isEmpty else {
            throw ZeroMQError(
                .badRole, "Only one line 'roles: …' may follow the key, not '\(line.prefix(40))'.")
        }
        return (key, try PeerRoles(words: String(line.dropFirst(6))))
    }

    /// Creates `url` with mode 0600, synced to disk.
    ///
    /// - Throws: ``ZeroMQError`` `key-file`, also when the file exists: a key is never overwritten.
    public static func write(secretOf pair: KeyPair, to url: URL) throws(ZeroMQError) {
        try create(
            url, mode: 0o600, "# Packhorse secret key. Keep it. Public half: \(pair.publicKey)\n\(pair.secret)\n")
    }

    /// Creates `url` with mode 0644, synced to disk.
    ///
    /// Without `roles` the file names none.
    ///
    /// - Throws: ``ZeroMQError`` `key-file`, also when the file exists.
    public static func write(_ key: PublicKey, roles: PeerRoles? = nil, to url: URL) throws(ZeroMQError) {
        let line = roles.map { "roles: \($0)\n" } ?? ""
        try create(url, mode: 0o644, "\(publicMark)\n\(key)\n\(line)")
    }

    /// The lines that are not comments.
    private static func meaningful(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
            .filter { !$0.hasPrefix("#") && !$0.allSatisfy(\.isWhitespace) }.map(String.init)
    }

    private static func read(_ url: URL) throws(ZeroMQError) -> GuardedFile {
        do {
            return try GuardedFile.read(url, limit: maxBytes)
        } catch {
            let code: ZeroMQErrorCode = if case .missing = error { .keyMissing } else { .keyFile }
            throw ZeroMQError(code, "Cannot read the key file '\(url.path)': \(error.reason).")
        }
    }

    private static func create(_ url: URL, mode: mode_t, _ text: String) throws(ZeroMQError) {
        let descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure("create", url) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        let written = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
        guard written == bytes.count, fsync(descriptor) == 0 else {
            let error = failure("write", url)
            unlink(url.path)
            throw error
        }
    }

    private static func failure(_ verb: String, _ url: URL) -> ZeroMQError {
        ZeroMQError(
            .keyFile,
            "Cannot \(verb) the key file '\(url.path)': \(String(cString: strerror(errno))).")
    }
}
