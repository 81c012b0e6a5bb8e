import ArgumentParser
import Foundation
import ZeroMQ

/// `packhorse keygen`: CURVE key pairs.
struct KeygenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keygen",
        abstract: "Make a key pair, or the whole set that a cluster needs.",
        discussion: """
            FILE.key holds the secret (readable by its owner only), FILE.pub the public half; neither is ever overwritten.
            A peer may connect when its .pub lies in the coordinator's authorized_keys.d; removing it there locks it out within
            seconds. What it may do stands in the file's line 'roles:' (worker, merger, operator, viewer); without that line it may
            work, merge and operate. The line counts as it stands in authorized_keys.d: look at it before you copy a .pub there.

            Examples:
              packhorse keygen --cluster keys
              packhorse keygen keys/berlin.key --role worker && cp keys/berlin.pub keys/authorized_keys.d/
              packhorse keygen keys/wall.key --role viewer
            """)

    @Argument(help: "The secret key's file, ending in .key.") var file: String?
    @Option(
        help: ArgumentHelp(
            "What the holder may do: worker, merger, operator, viewer; may be repeated.", valueName: "role"))
    var role: [String] = []
    @Option(help: "A folder for coordinator, worker and operator keys and authorized_keys.d; what is there stays.")
    var cluster: String?

    func validate() throws {
        guard (file == nil) != (cluster == nil) else { throw ValidationError("Name FILE.key, or --cluster FOLDER.") }
        guard cluster == nil || role.isEmpty else {
            throw ValidationError("--cluster gives each key its own roles; --role goes with FILE.key.")
        }
        guard file?.hasSuffix(".key") ?? true else {
            throw ValidationError("The file must end in .key: keys/worker.key.")
        }
    }

    func run() throws {
        if let file {
            let roles = try role.isEmpty ? nil : PeerRoles(words: role.joined(separator: " "))
            Console.result(try Self.pair(URL(filePath: file), roles).publicKey.description)
            return
        }
        guard let cluster else { return }
        let folder = URL(filePath: cluster, directoryHint: .isDirectory)
        let allowed = folder.appending(path: "authorized_keys.d")
        try OutputPlace.makeFolder(allowed)
        let set: [(String, PeerRoles?)] = [
            ("coordinator", nil), ("worker", [.worker, .merger]), ("operator", .operator),
        ]
        for (name, roles) in set {
            let secret = folder.appending(path: "\(name).key")
            let isThere = FileKind.isThere(secret)
            if isThere { Console.note("kept: \(secret.path)") }
            let pair = isThere ? try KeyFile.readSecret(secret) : try Self.pair(secret, roles)
            let entry = allowed.appending(path: "\(name).pub")
            if name != "coordinator", !FileManager.default.fileExists(atPath: entry.path) {
                try KeyFile.write(pair.publicKey, roles: roles, to: entry)
            }
        }
        Console.result(folder.path)
    }

    private static func pair(_ secret: URL, _ roles: PeerRoles?) throws -> KeyPair {
        let pair = try KeyPair.generate()
        do {
            try KeyFile.write(secretOf: pair, to: secret)
            let open = secret.deletingPathExtension().appendingPathExtension("pub")
            try KeyFile.write(pair.publicKey, roles: roles, to: open)
        } catch {
            throw CLIError(.cannotCreate, error.message)
        }
        return pair
    }
}
