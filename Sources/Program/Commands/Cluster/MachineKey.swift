internal import CommandSupport
import Errors
import Foundation
import ZeroMQ

/// The key of the workers of one machine, in the folder of a cluster's keys.
struct MachineKey {
    let name: String
    /// The folder that `packhorse keygen --cluster` made.
    let cluster: URL

    /// Whether a text can be the name of a machine: it becomes the name of files.
    static func isName(_ text: String) -> Bool { text.wholeMatch(of: /[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}/) != nil }

    private var entry: URL { cluster.appending(path: "authorized_keys.d/\(name).pub") }
    private var folder: URL { cluster.appending(path: "machines/\(name)", directoryHint: .isDirectory) }

    /// Makes the key and authorizes it.
    ///
    /// - Returns: The folder for the machine: `worker.key`, `worker.pub` and `coordinator.pub`.
    /// - Throws: ``CLIError`` 66 without the keys of the cluster, 73 when the name is taken.
    func create() throws -> URL {
        let coordinator = cluster.appending(path: "coordinator.pub")
        guard FileKind.isThere(coordinator) else {
            throw CLIError(
                .noInput, "'\(cluster.path)' has no keys of a cluster: there is no coordinator.pub",
                hint: "make them first: packhorse keygen --cluster \(ShellText.quoted(cluster.path))")
        }
        guard !FileKind.isThere(entry), !FileKind.isThere(folder) else {
            throw CLIError(
                .cannotCreate, "there is a key of the name '\(name)' already",
                hint:
                    "choose another name; a key is never overwritten. To replace it: packhorse keys revoke \(name), and remove '\(folder.path)'"
            )
        }
        try OutputLocation.makeFolder(folder)
        let roles: PeerRoles = [.worker, .merger]
        let pair = try KeygenCommand.pair(folder.appending(path: "worker.key"), roles)
        do {
            try KeyFile.write(try KeyFile.readPublic(coordinator), to: folder.appending(path: "coordinator.pub"))
            // Last: a key that is not complete may not connect.
            try KeyFile.write(pair.publicKey, roles: roles, to: entry)
        } catch { throw CLIError(.cannotCreate, error.message) }
        return folder
    }
}
