import ArgumentParser
internal import CommandSupport
import Errors
import Foundation
import Gateway
import ZeroMQ

/// `packhorse keygen`: CURVE key pairs.
struct KeygenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keygen",
        abstract: "Create a key pair, the whole set for a cluster, or a token for the gateway.",
        discussion: """
            FILE.key contains the secret (readable only by its owner), FILE.pub the public half. Existing files are never overwritten.
            A peer may connect if its .pub is in the coordinator's authorized_keys.d. Removing it there disconnects the peer within
            seconds. The line 'roles:' of the file sets its roles (worker, merger, operator, viewer). Without that line it has the
            roles worker, merger and operator. Only the line in authorized_keys.d counts: check it before you copy a .pub there.

            --worker makes a key for one machine, which can be revoked alone. FOLDER/machines/NAME has all files that its workers need:
            give it as their --keys. 'packhorse keys revoke NAME' closes their links and refuses them from then on.

            FILE.token contains the digest of a new token for 'packhorse gateway', which is printed once. Its roles: viewer, operator,
            client.

            Examples:
              packhorse keygen --cluster keys
              packhorse keygen --cluster keys --worker berlin
              packhorse keygen keys/other.key --role worker && cp keys/other.pub keys/authorized_keys.d/
              packhorse keygen keys/wall.key --role viewer
              packhorse keygen tokens/web.token --role viewer
            """)

    @Argument(help: "The secret key's file, ending in .key; or a token's, ending in .token.") var file: String?
    @Option(
        help: ArgumentHelp(
            "A role of the key: worker, merger, operator or viewer; of a token also client; may be repeated.",
            valueName: "role"))
    var role: [String] = []
    @Option(help: "A folder for coordinator, worker and operator keys and authorized_keys.d; existing files are kept.")
    var cluster: String?
    @Option(
        help: ArgumentHelp(
            "With --cluster: make the key of the workers of one machine, and authorize it.", valueName: "name"))
    var worker: String?

    func validate() throws {
        guard (file == nil) != (cluster == nil) else {
            throw ValidationError("Give either FILE.key or --cluster FOLDER.")
        }
        guard cluster == nil || role.isEmpty else {
            throw ValidationError("--cluster sets the roles of each key; --role is only for FILE.key.")
        }
        guard worker == nil || cluster != nil else {
            throw ValidationError("--worker needs --cluster with the folder of the keys.")
        }
        if let worker, !MachineKey.isName(worker) {
            throw ValidationError(
                "--worker '\(worker.prefix(60))' is not a name of 1 to 64 letters, digits and -_. characters.")
        }
        if file?.hasSuffix(".key") == true, !role.isEmpty {
            do { _ = try PeerRoles(words: role.joined(separator: " ")) } catch {
                throw ValidationError("--role: \(error.message)")
            }
        }
        if file?.hasSuffix(".token") == true, let other = role.first(where: { !WebToken.roles.contains($0) }) {
            throw ValidationError(
                "--role '\(other.prefix(40))' is not a role of a token; they are \(WebToken.roles.joined(separator: ", "))."
            )
        }
        guard file.map({ $0.hasSuffix(".key") || $0.hasSuffix(".token") }) ?? true else {
            throw ValidationError("The file must end in .key or .token: keys/worker.key.")
        }
    }

    func run() throws {
        if let file, file.hasSuffix(".token") {
            guard !FileKind.isThere(URL(filePath: file)) else {
                throw CLIError(
                    .cannotCreate, "'\(file)' exists already",
                    hint: "choose another name, or remove the file: that ends its token")
            }
            Console.result(try WebToken.create(URL(filePath: file), roles: role.isEmpty ? ["viewer"] : role))
            return
        }
        if let file {
            let roles = try role.isEmpty ? nil : PeerRoles(words: role.joined(separator: " "))
            Console.result(try Self.pair(URL(filePath: file), roles).publicKey.description)
            return
        }
        guard let cluster else { return }
        let folder = URL(filePath: cluster, directoryHint: .isDirectory)
        if let worker {
            Console.result(try MachineKey(name: worker, cluster: folder).create().path)
            return
        }
        let allowed = folder.appending(path: "authorized_keys.d")
        try OutputLocation.makeFolder(allowed)
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

    static func pair(_ secret: URL, _ roles: PeerRoles?) throws -> KeyPair {
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
