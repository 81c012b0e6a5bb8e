import ArgumentParser
import Errors
import Foundation
import ZeroMQ

/// `packhorse keys`: who may connect, and as what.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "List who may connect to a coordinator, and as what.",
        discussion: """
            Reads the folder authorized_keys.d, as the coordinator does every second. To change what a key may do, edit its line
            'roles:'; to lock it out, remove its file: its links are cut within seconds.
            Example: packhorse keys --keys ./keys
            """)

    @Option(help: "A folder made by 'packhorse keygen --cluster'. Default: $PACKHORSE_KEYS.") var keys: String?
    @Option(help: "The folder of public keys itself. Default: $PACKHORSE_AUTHORIZED_KEYS.") var authorizedKeys: String?
    @Flag(help: "The result as JSON.") var json = false

    func run() throws {
        var options = KeyOptions()
        options.keys = keys
        guard let folder = options.allowed(authorizedKeys) else {
            throw CLIError(.usage, "which keys? Name --keys FOLDER or --authorized-keys FOLDER")
        }
        let rows = try AllowList.listing(of: folder).map(KeyView.init)
        if json {
            Console.result(try JSONText.pretty(rows))
        } else {
            var table = Table("name", "roles", "key")
            for row in rows {
                table.add(row.name, row.problem.map { "cannot be used: \($0)" } ?? row.roles, row.key ?? "-")
            }
            table.lines.forEach(Console.result)
        }
        let broken = rows.count { $0.problem != nil }
        if broken > 0 {
            throw CLIError(
                .configuration, "\(Units.count(broken)) of \(Units.count(rows.count, of: "key file")) cannot be used")
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
