internal import CommandSupport
import Errors
import Foundation
import Gateway

/// The token of the person who runs `packhorse up`: a new one at each start, removed at the end.
struct OperatorToken {
    /// The folder of the gateway's tokens.
    let folder: URL

    private var file: URL { folder.appending(path: "up.token") }

    /// Replaces the token of an earlier run.
    ///
    /// - Returns: The token.
    /// - Throws: ``CLIError`` 73 when the folder cannot be created, ``GatewayError`` when the file cannot be written.
    func create() throws -> String {
        try OutputLocation.makeFolder(folder)
        remove()
        return try WebToken.create(file, roles: ["operator"])
    }

    /// Ends the token.
    func remove() { unlink(file.path) }
}
