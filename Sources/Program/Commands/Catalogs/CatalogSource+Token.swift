import CatalogTransfer
internal import CommandSupport

extension CatalogSource {
    /// A catalog that a command only reads: its server gets the token of the environment, if there is one.
    ///
    /// - Throws: As `init(_:token:)`; ``CLIError`` 78 for a token that no header can have.
    init(toRead text: String) throws {
        let isWeb = if case .web = try CatalogLocation(text) { true } else { false }
        try self.init(text, token: isWeb ? Variable.catalogToken() : nil)
    }
}
