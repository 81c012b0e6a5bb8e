import ArgumentParser
internal import CommandSupport
import Errors
import Files
import Foundation
internal import TextFormats
import ZeroMQ

/// `packhorse keys`: the keys that may connect.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "List the keys that may connect to a coordinator, or revoke one.",
        discussion: """
            Examples:
              packhorse keys --keys ./keys
              packhorse keys revoke berlin --keys ./keys
            """,
        subcommands: [KeysListCommand.self, KeysRevokeCommand.self], defaultSubcommand: KeysListCommand.self)
}

/// The folder of the keys that may connect.
struct AuthorizedKeysOptions: ParsableArguments {
    @Option(help: "A folder created by 'packhorse keygen --cluster'. Default: $PACKHORSE_KEYS.") var keys: String?
    @Option(help: "The folder of public keys. Default: $PACKHORSE_AUTHORIZED_KEYS.") var authorizedKeys: String?

    /// - Throws: ``CLIError`` 64 when none is given.
    var folder: URL {
        get throws {
            var options = KeyOptions()
            options.keys = keys
            guard let folder = options.allowed(authorizedKeys) else {
                throw CLIError(.usage, "no folder of keys is given; pass --keys FOLDER or --authorized-keys FOLDER")
            }
            return folder
        }
    }
}

/// `packhorse keys list`: the keys that may connect, and their roles.
struct KeysListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the keys that may connect to a coordinator, and their roles.",
        discussion: """
            Reads the folder authorized_keys.d, as the coordinator does every second. To change the roles of a key, edit its line
            'roles:'.
            Example: packhorse keys --keys ./keys
            """)

    @OptionGroup var place: AuthorizedKeysOptions
    @Flag(help: "Print the result as JSON.") var json = false

    func run() throws {
        let rows = try AllowList.listing(of: try place.folder).map(KeyView.init)
        if json {
            Console.result(try JSONText.pretty(rows))
        } else {
            var table = Table("name", "roles", "key")
            for row in rows {
                table.add(row.name, row.problem.map { "invalid: \($0)" } ?? row.roles, row.key ?? "-")
            }
            table.lines.forEach(Console.result)
        }
        let broken = rows.count { $0.problem != nil }
        if broken > 0 {
            throw CLIError(
                .configuration, "\(Units.count(broken)) of \(Units.count(rows.count, of: "key file")) are invalid")
        }
    }
}

/// `packhorse keys revoke`: a key may no longer connect.
struct KeysRevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke keys by name: their links are closed within two seconds.",
        discussion: """
            Removes NAME.pub from authorized_keys.d. A running coordinator needs no restart and no signal. Work that a revoked worker held
            goes to others when its lease ends.
            Example: packhorse keys revoke berlin --keys ./keys
            """)

    @Argument(help: ArgumentHelp("Names as 'packhorse keys' lists them.", valueName: "name")) var names: [String]
    @OptionGroup var place: AuthorizedKeysOptions

    func run() throws {
        let folder = try place.folder
        let known = try AllowList.listing(of: folder).map { $0.file.deletingPathExtension().lastPathComponent }
        for name in names where !known.contains(name) {
            let near = Nearest.word(to: name, among: known).map { "did you mean '\($0)'?" }
            throw CLIError(
                .noInput, "'\(folder.path)' has no key of the name '\(name.prefix(60))'",
                hint: near ?? "list them: packhorse keys --authorized-keys \(ShellText.quoted(folder.path))")
        }
        for name in names {
            try Durable.remove(folder.appending(path: "\(name).pub"))
            // A power cut must not bring the key back.
            try Durable.sync(folder: folder)
            Console.result("\(name): may no longer connect")
        }
    }
}

/// A key file as printed.
private struct KeyView: Encodable {
    let name: String
    let roles: String
    let key: String?
    let problem: String?

    init(_ row: (file: URL, entry: Result<AllowList.Entry, ZeroMQError>)) {
        name = row.file.deletingPathExtension().lastPathComponent
        switch row.entry {
        case .success(let entry):
            roles = entry.roles.description
            key = entry.key.z85
            problem = nil
        case .failure(let error):
            roles = ""
            key = nil
            problem = error.message
        }
    }
}
