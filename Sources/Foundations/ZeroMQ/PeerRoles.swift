public import Errors

/// The permissions of a key.
public struct PeerRoles: OptionSet, Hashable, Sendable, CustomStringConvertible {
    /// One bit per role.
    public let rawValue: UInt8

    /// The roles of these bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Fetches batches and moves their blobs.
    public static let worker = PeerRoles(rawValue: 1)
    /// Merges packages and moves their blobs.
    public static let merger = PeerRoles(rawValue: 2)
    /// Submits jobs, sends orders, and reads everything.
    public static let `operator` = PeerRoles(rawValue: 4)
    /// Reads everything, changes nothing.
    public static let viewer = PeerRoles(rawValue: 8)

    /// Every role.
    ///
    /// A peer on a plain link has all of them.
    public static let all: PeerRoles = [.worker, .merger, .operator, .viewer]
    /// The roles of a key file that names none: everything that was possible before keys had roles.
    public static let unstated: PeerRoles = [.worker, .merger, .operator]

    private static let words: [(String, PeerRoles)] = [
        ("worker", .worker), ("merger", .merger), ("operator", .operator), ("viewer", .viewer),
    ]

    /// The roles named in `text`, separated by commas or white space.
    ///
    /// - Throws: ``ZeroMQError`` `bad-role` for a word that is not a role, or when no role is named.
    public init(words text: String) throws(ZeroMQError) {
        var roles: PeerRoles = []
        for word in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            guard let role = Self.words.first(where: { $0.0 == word })?.1 else {
                throw ZeroMQError(
                    .badRole, "'\(word.prefix(40))' is not a role. The roles are worker, merger, operator and viewer.")
            }
            roles.insert(role)
        }
        guard !roles.isEmpty else {
            throw ZeroMQError(.badRole, "No role is named. The roles are worker, merger, operator and viewer.")
        }
        self = roles
    }

    /// "worker merger".
    public var description: String {
        Self.words.filter { contains($0.1) }.map(\.0).joined(separator: " ")
    }
}
