import ArgumentParser
import Foundation

/// An option of a service as its command declares it: the declaration is the only list of options.
struct ServiceOption: Equatable {
    /// Without hyphens in front: `log-level`; of a positional argument its name.
    let name: String
    let isFlag: Bool
    let isPositional: Bool
    let isRepeating: Bool
    /// Whether a command line without it is refused.
    let isNeeded: Bool
    /// The variable that its help names as its default: `Default: $PACKHORSE_KEY`.
    let variable: String?
    /// The value without it; `nil` for none.
    let usual: String?

    /// Options that say what this one start does, and that are no settings.
    private static let notInFiles: Set = ["config", "help", "version", "until-input-ends", "dry-run"]

    /// The options of a role that can be in a file, in the order of its help.
    static func all(of role: ServiceRole) -> [ServiceOption] {
        // The dump is JSON of the library itself.
        guard let dump = try? JSONDecoder().decode(Dump.self, from: Data(role.command._dumpHelp().utf8)) else {
            return []
        }
        return (dump.command.arguments ?? []).compactMap(ServiceOption.init).filter { !notInFiles.contains($0.name) }
    }

    private init?(_ argument: Dump.Argument) {
        guard let name = argument.preferredName?.name ?? argument.valueName else { return nil }
        self.name = name
        isFlag = argument.kind == "flag"
        isPositional = argument.kind == "positional"
        isRepeating = argument.isRepeating
        isNeeded = !argument.isOptional && argument.defaultValue == nil && argument.kind != "flag"
        usual = argument.defaultValue
        variable = argument.abstract?.firstMatch(of: /Default: \$([A-Z][A-Z0-9_]*)/).map { String($0.output.1) }
    }
}

/// What ArgumentParser says of a command (`--experimental-dump-help`): the parts that are used.
private struct Dump: Decodable {
    struct Command: Decodable { let arguments: [Argument]? }

    struct Argument: Decodable {
        struct Name: Decodable { let name: String }

        let kind: String
        let isOptional: Bool
        let isRepeating: Bool
        let preferredName: Name?
        let valueName: String?
        let defaultValue: String?
        let abstract: String?
    }

    let command: Command
}
