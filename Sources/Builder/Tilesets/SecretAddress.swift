public import Errors

/// An address that may hold a secret in the way tilesets name theirs: `https://maps.example/style.json?key=${MAPS_KEY}`.
///
/// The secret itself stays in the environment of the fetching process.
public struct SecretAddress: Sendable, Hashable {
    /// The address with `{key}` where the secret goes.
    public let url: String
    /// The environment variable with the value of `{key}`; `nil` if the address names none.
    public let variable: String?

    /// Reads an address.
    ///
    /// - Throws: ``TilesetsError`` `bad-value` for a `${` without a valid variable name, for two different variables,
    ///   and for a variable in addition to `{key}`.
    public init(_ text: String) throws(TilesetsError) {
        let names = try Secrets.names(in: text)
        guard Set(names).count <= 1, names.isEmpty || !text.contains("{key}") else {
            throw TilesetsError(
                .badValue, "'\(text.prefix(200))' names more than one secret; an address can have one: ${NAME}.")
        }
        variable = names.first
        url = variable.map { text.replacing("${\($0)}", with: "{key}") } ?? text
    }

    /// The value of the variable; `nil` when the address names none.
    ///
    /// - Throws: ``TilesetsError`` `missing-secret` naming the variable.
    public func key(environment: [String: String]) throws(TilesetsError) -> String? {
        guard let variable else { return nil }
        return try Secrets.fill("${\(variable)}", from: environment, place: "The style's address")
    }
}
