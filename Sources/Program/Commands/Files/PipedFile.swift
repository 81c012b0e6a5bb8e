internal import CommandSupport
import Errors
import Files
import Foundation

/// The one file of `-o -`: it is made as any other file, and goes to standard output when it is finished and verified.
enum PipedFile {
    /// The output that stands for standard output.
    static let name = "-"

    /// Refuses to send a file where it is of no use.
    ///
    /// - Parameter json: Whether the command prints its result as JSON, also on standard output.
    /// - Throws: ``CLIError`` 64.
    static func check(json: Bool) throws {
        guard !json else {
            throw CLIError(
                .usage, "-o - and JSON both write to standard output",
                hint: "write to a file: -o FILE, or omit the JSON")
        }
        guard isatty(STDOUT_FILENO) == 0 else {
            throw CLIError(
                .usage, "-o - writes a file to standard output, which is a terminal",
                hint: "send it on: -o - > FILE, or name the file: -o FILE")
        }
    }

    /// Runs a command that makes a file in a temporary folder, then sends the file.
    ///
    /// - Parameter make: Gets the folder, which is removed in every case.
    static func through(_ make: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "packhorse-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        // What could not be removed lies among the temporary files of the system.
        defer { try? FileManager.default.removeItem(at: folder) }
        try await make(folder)
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            try await send(file)
        }
    }

    /// Writes a file to standard output, and leaves it where it is.
    ///
    /// - Throws: ``CLIError`` 74 when not all of it could be written.
    static func send(_ file: URL) async throws {
        try await FileWork.run {
            let source = try FileHandle(forReadingFrom: file)
            defer { try? source.close() }  // It was only read.
            while let piece = try source.read(upToCount: 1 << 20), !piece.isEmpty {
                do { try FileHandle.standardOutput.write(contentsOf: piece) } catch {
                    throw CLIError(
                        .inputOutput,
                        "standard output took only a part of the file: \(String(cString: strerror(errno)))",
                        hint: "repeat the command with an output that takes the whole file")
                }
            }
        }
    }
}
