internal import Digests
public import Errors
internal import Files
import Foundation
internal import TextFormats
internal import Transfer

/// Who gets notifications: an address, the secret that signs them, and the kinds that it wants.
public struct NotificationReceiver: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The SHA-256 of the address, hexadecimal: the address may contain a secret, so the state file does not have it.
    public let id: String
    /// Scheme, host and port.
    ///
    /// Logs and health contain nothing else of the address: chat services put a secret into the path.
    public let place: String
    /// The kinds of notifications that it gets.
    public let kinds: Set<NotificationKind>
    /// Where requests go; without user information.
    let url: String
    /// The user information of the address as a header.
    let authorization: HeaderField?
    let secret: [UInt8]?

    /// The smallest secret.
    ///
    /// Unit: bytes. 128 bits; NIST SP 800-131A accepts keys of HMAC from 112 bits on.
    public static let minSecret = 16

    /// A receiver at an absolute http or https URL.
    ///
    /// - Parameter secret: Signs each notification; `nil` = they are not signed.
    /// - Throws: ``NotificationError`` `bad-receiver`, `bad-secret`. Its text has nothing of the address but the scheme.
    public init(
        _ address: String, secret: [UInt8]? = nil, kinds: Set<NotificationKind> = Set(NotificationKind.allCases)
    ) throws(NotificationError) {
        guard var parts = URLComponents(string: address), let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = parts.host, !host.isEmpty, parts.fragment == nil,
            !address.contains(where: \.isWhitespace)
        else {
            throw NotificationError(
                .badReceiver,
                "A receiver of notifications needs an absolute http or https URL without a fragment, for example"
                    + " https://hooks.example.com/packhorse.")
        }
        guard parts.port.map((1...65_535).contains) ?? true else {
            throw NotificationError(.badReceiver, "The port of a receiver of notifications is 1 to 65535.")
        }
        if let secret, secret.count < Self.minSecret {
            throw NotificationError(
                .badSecret,
                "The secret of notifications has \(secret.count) bytes; it needs at least \(Self.minSecret).",
                hint: "create one: openssl rand -hex 32")
        }
        id = Digest(of: Data(address.utf8)).hex
        if let user = parts.user {
            let pair = Data("\(user):\(parts.password ?? "")".utf8).base64EncodedString()
            authorization = HeaderField("Authorization", "Basic \(pair)")
        } else {
            authorization = nil
        }
        (parts.user, parts.password) = (nil, nil)
        guard let url = parts.string else {
            throw NotificationError(.badReceiver, "The URL of a receiver of notifications cannot be written.")
        }
        self.url = url
        let port = parts.port.map { ":\($0)" } ?? ""
        place = "\(scheme)://\(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host)\(port)"
        self.secret = secret
        self.kinds = kinds
    }

    /// ``place``.
    public var description: String { place }
    /// The same: a secret must not reach a log through a dump.
    public var debugDescription: String { place }
}
