package import ArgumentParser
import Errors
package import Foundation
package import ZeroMQ

/// The keys with which a process authenticates itself.
///
/// Without keys, links are unencrypted and restricted to this machine.
package struct KeyOptions: ParsableArguments {
    package enum Role: String {
        case `operator`, worker
    }

    @Option(help: ArgumentHelp("This process's secret key. Default: $PACKHORSE_KEY.", valueName: "file"))
    package var key: String?

    @Option(help: ArgumentHelp("The coordinator's public key. Default: $PACKHORSE_SERVER_KEY.", valueName: "file"))
    package var serverKey: String?

    @Option(
        help: ArgumentHelp(
            "A folder created by 'packhorse keygen --cluster', instead of single key files. Default: $PACKHORSE_KEYS.",
            valueName: "folder"))
    package var keys: String?

    @Flag(
        help:
            "Allow unencrypted links to other machines: anyone on the network can then read everything and send orders."
    )
    package var insecure = false

    package init() {}

    /// The client's security: its own key and the coordinator's public key, or no encryption without keys.
    package func client(as role: Role) throws -> LinkSecurity {
        let own = file(key, variable: "PACKHORSE_KEY", name: "\(role.rawValue).key")
        let server = file(serverKey, variable: "PACKHORSE_SERVER_KEY", name: "coordinator.pub")
        switch (own, server) {
        case (nil, nil): return .plain
        case (let own?, let server?):
            return .curveClient(try KeyFile.readSecret(own), serverKey: try KeyFile.readPublic(server))
        case (.some, nil), (nil, .some):
            throw CLIError(
                .usage,
                "an encrypted link needs both --key and --server-key; only \(own == nil ? "the latter" : "the former") is given",
                hint: "create a set with packhorse keygen --cluster keys, then pass --keys keys")
        }
    }

    /// The coordinator's security: its key and the folder of authorized keys, or no encryption without keys.
    package func server(authorizedKeys: String?) throws -> LinkSecurity {
        let own = file(key, variable: "PACKHORSE_KEY", name: "coordinator.key")
        let allowed = allowed(authorizedKeys)
        switch (own, allowed) {
        case (nil, nil): return .plain
        case (let own?, let allowed?):
            return .curveServer(try KeyFile.readSecret(own), try AllowList(folder: allowed))
        case (.some, nil), (nil, .some):
            throw CLIError(
                .usage, "an encrypted coordinator needs both --key and --authorized-keys",
                hint: "create a set with packhorse keygen --cluster keys, then pass --keys keys")
        }
    }

    /// What a coordinator reads again on SIGHUP; it also looks by itself, every second.
    package func reloadSteps(_ security: LinkSecurity) -> [ReloadStep] {
        guard case .curveServer(_, let allowed) = security else { return [] }
        return [
            ReloadStep("keys") {
                let change = allowed.reload()
                return ["\(change.count) authorized"]
                    .appending("added", change.added).appending("removed", change.removed)
                    .appending("refused", change.refused).joined(separator: "; ")
            }
        ]
    }

    /// The folder of authorized keys.
    package func allowed(_ option: String?) -> URL? {
        file(option, variable: "PACKHORSE_AUTHORIZED_KEYS", name: "authorized_keys.d")
    }

    private func file(_ option: String?, variable: String, name: String) -> URL? {
        if let option { return URL(filePath: option) }
        if let keys { return URL(filePath: keys).appending(path: name) }
        if let named = Variable.value(variable) { return URL(filePath: named) }
        return Variable.value("PACKHORSE_KEYS").map { URL(filePath: $0).appending(path: name) }
    }
}

extension [String] {
    /// The texts with a list of names behind them, if it has any.
    fileprivate func appending(_ what: String, _ names: [String]) -> [String] {
        names.isEmpty ? self : self + ["\(what) \(names.joined(separator: ", "))"]
    }
}
