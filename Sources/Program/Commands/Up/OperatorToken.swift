internal import CommandSupport
import Errors
import Foundation

/// The token of the person who runs `packhorse up`: a new one at each start, removed at the end.
struct OperatorToken {
    /// The folder of the gateway's tokens.
    let folder: URL

    private var file: URL { folder.appending(path: "up.token") }

    /// Replaces the token of an earlier run.
    ///
    /// Blocks until `packhorse keygen` has ended.
    ///
    /// - Returns: The token.
    /// - Throws: ``CLIError`` 73 when it cannot be created.
    func create() throws -> String {
        try OutputPlace.makeFolder(folder)
        remove()
        let process = Process()
        let output = Pipe()
        process.executableURL = ChildProcess.program
        process.arguments = ["keygen", file.path, "--role", "operator"]
        process.environment = ChildProcess.environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        do { try process.run() } catch {
            throw CLIError(.cannotCreate, "cannot start packhorse keygen: \(error.localizedDescription)")
        }
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw CLIError(
                ExitStatus(rawValue: process.terminationStatus) ?? .cannotCreate,
                "the operator token '\(file.path)' was not created", hint: "see the error of packhorse keygen above")
        }
        return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Ends the token.
    func remove() { unlink(file.path) }
}
