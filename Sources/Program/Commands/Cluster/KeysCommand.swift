import ArgumentParser
internal import CommandSupport
import Errors
import Foundation
internal import TextFormats
import ZeroMQ

/// `packhorse keys`: the keys that may connect, and their roles.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "List the keys that may connect to a coordinator, and their roles.",
        discussion: """
            Reads the folder authorized_keys.d, as the coordinator does every second. To change the roles of a key, edit its line
            'roles:'; to block it, remove its file: its links are closed within seconds.
            Example: packhorse keys --keys ./keys
            """)

    @Option(help: "A folder created by 'packhorse keygen --cluster'. Default: $PACKHORSE_KEYS.") var keys: String?
    @Option(help: "The folder of public keys. Default: $PACKHORSE_AUTHORIZED_KEYS.") var authorizedKeys: String?
    @Flag(help: "Print the result as JSON.") var json = false

    func run() throws {
        var options = KeyOptions()
        options.keys = keys
        guard let folder = options.allowed(authorizedKeys) else {
            throw CLIError(.usage, "no folder of keys is given; pass --keys FOLDER or --authorized-keys FOLDER")
        }
        let rows = try AllowList.listing(of: folder).map(KeyView.init)
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
