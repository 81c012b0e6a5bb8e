internal import Cryptography
internal import Digests
public import Errors
internal import Files
public import Foundation

/// The secret half of the key that signs a catalog (Ed25519).
public struct CatalogSecretKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let raw: [UInt8]

    /// Creates a new key from the system's random source.
    public init() { raw = Ed25519.makeSecretKey() }

    /// Reads the file that ``write(to:)`` made.
    ///
    /// - Throws: `key-missing`, `key-file`; `key-permissions` when others may read it; `bad-key`.
    public init(file url: URL) throws(CatalogError) {
        let file = try CatalogKeyFile.read(url)
        let text = String(decoding: file.bytes, as: UTF8.self)
        guard CatalogKeyFile.key(text, CatalogKeyFile.open) == nil else {
            throw CatalogError(
                .badKey,
                "'\(url.path)' is a public key. Give the secret key, the .key file that was created with it.")
        }
        if let leak = file.leak {
            throw CatalogError(.keyPermissions, "The signing key '\(url.path)' \(leak)")
        }
        guard let raw = CatalogKeyFile.key(text, CatalogKeyFile.secret) else {
            throw CatalogError(
                .badKey, "'\(url.path)' is not a signing key. Create one with: packhorse catalog keygen FILE.key")
        }
        self.raw = raw
    }

    /// The half that clients have.
    public var publicKey: CatalogPublicKey {
        get throws(CatalogError) {
            guard let key = Ed25519.publicKey(of: raw) else {
                throw CatalogError(.badKey, "The signing key cannot be used.")
            }
            return CatalogPublicKey(raw: key)
        }
    }

    /// Creates a file with mode 0600 that holds the key.
    ///
    /// - Throws: `key-file`, also when the file exists: a key is never overwritten.
    public func write(to url: URL) throws(CatalogError) {
        try CatalogKeyFile.create(
            url, mode: 0o600,
            "# Packhorse catalog signing key. Keep it. Public key: \(try publicKey)\n"
                + "\(CatalogKeyFile.secret)\(Data(raw).base64EncodedString())\n")
    }

    func sign(_ bytes: [UInt8]) throws(CatalogError) -> [UInt8] {
        guard let signature = Ed25519.sign(bytes, with: raw) else {
            throw CatalogError(.badKey, "The catalog cannot be signed.")
        }
        return signature
    }

    /// A text without the secret.
    public var description: String { "CatalogSecretKey" }
    /// A text without the secret.
    public var debugDescription: String { description }
    /// No children, so that `dump` does not show the secret either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The public half of a signing key: 32 bytes, as text `ed25519-public:` and their base64.
public struct CatalogPublicKey: Sendable, Hashable, CustomStringConvertible {
    let raw: [UInt8]

    init(raw: [UInt8]) { self.raw = raw }

    /// Reads the text form.
    ///
    /// - Throws: `bad-key`.
    public init(_ text: String) throws(CatalogError) {
        guard let raw = CatalogKeyFile.key(text, CatalogKeyFile.open) else {
            // The message does not repeat the key: printed text ends up in logs.
            guard !text.contains(CatalogKeyFile.secret) else {
                throw CatalogError(
                    .badKey, "This is a secret key. Give its public key, which begins with \(CatalogKeyFile.open).")
            }
            throw CatalogError(
                .badKey, "'\(text.prefix(60))' is not a public key. Expected: \(CatalogKeyFile.open) and 44 characters."
            )
        }
        self.raw = raw
    }

    /// Reads the file that ``write(to:)`` made.
    ///
    /// - Throws: `key-missing`, `key-file`, `bad-key`.
    public init(file url: URL) throws(CatalogError) {
        let text = String(decoding: try CatalogKeyFile.read(url).bytes, as: UTF8.self)
        guard let raw = CatalogKeyFile.key(text, CatalogKeyFile.open) else {
            let isSecret = CatalogKeyFile.key(text, CatalogKeyFile.secret) != nil
            throw CatalogError(
                .badKey,
                isSecret
                    ? "'\(url.path)' is a secret key. Give the public key, the .pub file that was created with it."
                    : "'\(url.path)' contains no public key of a catalog.")
        }
        self.raw = raw
    }

    /// Creates a file that holds the key.
    ///
    /// - Throws: `key-file`, also when the file exists.
    public func write(to url: URL) throws(CatalogError) {
        try CatalogKeyFile.create(url, mode: 0o644, "# Packhorse catalog public key.\n\(self)\n")
    }

    /// The key's id in signatures: the first 16 digits of its SHA-256.
    public var id: String { String(Digest(of: raw).hex.prefix(16)) }

    func isValid(_ signature: [UInt8], for bytes: [UInt8]) -> Bool {
        Ed25519.isValid(signature, for: bytes, key: raw)
    }

    /// The text form.
    public var description: String { CatalogKeyFile.open + Data(raw).base64EncodedString() }
}

/// Key files: lines beginning with `#` are comments, the first other line is the key.
private enum CatalogKeyFile {
    static let secret = "ed25519-secret:"
    static let open = "ed25519-public:"
    private static let maxBytes = 4_096

    static func key(_ text: String, _ prefix: String) -> [UInt8]? {
        let line = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            .first { !$0.isEmpty && !$0.hasPrefix("#") }
        guard let line, line.hasPrefix(prefix), let data = Data(base64Encoded: String(line.dropFirst(prefix.count))),
            data.count == 32
        else { return nil }
        return Array(data)
    }

    static func read(_ url: URL) throws(CatalogError) -> GuardedFile {
        do {
            return try GuardedFile.read(url, limit: maxBytes)
        } catch {
            let code: CatalogErrorCode = if case .missing = error { .keyMissing } else { .keyFile }
            throw CatalogError(code, "Cannot read the key file '\(url.path)': \(error.reason).")
        }
    }

    static func create(_ url: URL, mode: mode_t, _ text: String) throws(CatalogError) {
        let handle = Foundation.open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard handle >= 0 else { throw failure("create", url) }
        defer { close(handle) }
        let bytes = Array(text.utf8)
        guard bytes.withUnsafeBytes({ Foundation.write(handle, $0.baseAddress, $0.count) }) == bytes.count,
            fsync(handle) == 0
        else {
            let error = failure("write", url)
            unlink(url.path)
            throw error
        }
    }

    private static func failure(_ verb: String, _ url: URL) -> CatalogError {
        CatalogError(
            .keyFile, "Cannot \(verb) the key file '\(url.path)': \(String(cString: strerror(errno))).")
    }
}
