import ArgumentParser
internal import CommandSupport
import Errors
import Files
import Foundation
import Notifications

/// Who is notified of events, from the command line of a coordinator.
struct NotifyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Send a POST request with JSON to this URL when a job has ended, a package is published or an origin is blocked. May be repeated.",
            valueName: "url"))
    var notify: [String] = []
    @Option(
        help: ArgumentHelp(
            "Sign notifications with the secret in this file, at least 16 bytes; a line break at its end is ignored.",
            valueName: "file"))
    var notifySecretFile: String?
    @Option(
        help: ArgumentHelp(
            "The kinds of notifications, separated by commas: \(NotificationKind.allNames). Default: all.",
            valueName: "kinds"))
    var notifyOn: String?

    func validate() throws {
        for address in notify { try OptionValue.check("--notify") { _ = try NotificationReceiver(address) } }
        if let notifyOn { try OptionValue.check("--notify-on") { _ = try NotificationKind.set(notifyOn) } }
        guard !notify.isEmpty || notifySecretFile == nil && notifyOn == nil else {
            throw ValidationError("--notify-secret-file and --notify-on need --notify.")
        }
        guard Set(notify).count == notify.count else { throw ValidationError("--notify names a URL twice.") }
    }

    /// The options as another process gets them.
    var arguments: [String] {
        notify.flatMap { ["--notify", $0] } + (notifySecretFile.map { ["--notify-secret-file", $0] } ?? [])
            + (notifyOn.map { ["--notify-on", $0] } ?? [])
    }

    /// The receivers.
    ///
    /// - Throws: ``CLIError`` when the secret cannot be read; `NotificationError`.
    func receivers() throws -> [NotificationReceiver] {
        let secret = try notifySecretFile.map { try Self.secret(in: URL(filePath: $0)) }
        let kinds = try notifyOn.map { try NotificationKind.set($0) } ?? Set(NotificationKind.allCases)
        return try notify.map { try NotificationReceiver($0, secret: secret, kinds: kinds) }
    }

    private static func secret(in file: URL) throws -> [UInt8] {
        let content: GuardedFile
        do { content = try GuardedFile.read(file, limit: 65_536) } catch {
            // The error is that of any file that is named and cannot be read.
            _ = try InputFile.read(file)
            throw CLIError(.inputOutput, "'\(file.path)' cannot be read: \(error.reason)")
        }
        if let leak = content.leak {
            throw CLIError(.permission, "the secret '\(file.path)' \(leak)")
        }
        var bytes = content.bytes
        while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { bytes.removeLast() }
        return bytes
    }
}
