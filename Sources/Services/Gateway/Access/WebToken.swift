internal import Digests
public import Errors
internal import Files
public import Foundation
internal import WebRequests

/// Tokens that clients of the gateway send.
public enum WebToken {
    /// The names of the roles that a token can have.
    public static let roles = [Role.viewer, .operator, .client].map(\.rawValue)

    /// Creates a token and the file that allows it, with its folder; the file holds only the digest of the token.
    ///
    /// - Parameters:
    ///   - file: `NAME.token`; it must not exist.
    ///   - roles: At least one of ``roles``.
    /// - Returns: The token: `ph_` and 43 characters of 256 random bits.
    /// - Throws: ``GatewayError`` `bad-configuration`, `unreadable`.
    public static func create(_ file: URL, roles: [String]) throws(GatewayError) -> String {
        guard file.pathExtension == "token" else {
            throw GatewayError(.badConfiguration, "The file of a token ends in .token: '\(file.path)' does not.")
        }
        guard !roles.isEmpty, roles.allSatisfy(Self.roles.contains) else {
            throw GatewayError(
                .badConfiguration, "A token needs roles: \(Self.roles.joined(separator: ", ")).")
        }
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
        let text = Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        let token = "ph_" + text.filter { $0 != "=" }
        let content =
            "# A token of 'packhorse gateway'. Remove the file to end it.\n"
            + "sha256:\(Digest(of: Array(token.utf8)))\nroles: \(roles.joined(separator: ", "))\n"
        do {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(content.utf8).write(to: file, options: .withoutOverwriting)
        } catch {
            throw GatewayError(
                .unreadable, "Cannot create the token file '\(file.path)': \(error.localizedDescription)", cause: error)
        }
        return token
    }
}
