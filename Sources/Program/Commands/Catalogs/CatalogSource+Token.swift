import CatalogTransfer
internal import CommandSupport

extension CatalogSource {
    /// A catalog that a command only reads: its server gets the token of the environment, if there is one.
    ///
    /// - Throws: As `init(_:token:)`; ``CLIError`` 64 for a token that no header can have.
    init(toRead text: String) throws { try self.init(text, token: Variable.catalogToken()) }
}
