import ArgumentParser
internal import CommandSupport
import Errors
import Foundation
internal import TextFormats

/// `packhorse config`: files with the options of services.
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Check files with the options of services, and show the values in use.",
        discussion: """
            A key of the file is an option of the command without its hyphens: 'log-level: info' is '--log-level info'. The command line
            counts before the environment, the environment before the file, the file before the defaults.
            Examples:
              packhorse config check worker.yaml
              packhorse config show worker --config worker.yaml --slots 8
            """,
        subcommands: [ConfigCheckCommand.self, ConfigShowCommand.self])
}

/// `packhorse config check`.
struct ConfigCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check files with options; exit code 78 with the lines that are wrong.",
        discussion: """
            Nothing is opened but the files themselves. The name of a file says the command: worker.yaml, worker-berlin.yaml. SIGHUP makes a
            running service read its file again.
            Examples:
              packhorse config check coordinator.yaml worker.yaml
              packhorse config check site.yaml --for gateway
            """)

    @Argument(help: ArgumentHelp("The files.", valueName: "file")) var files: [String]
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("The command that reads them: \(ServiceRole.names).", valueName: "command"))
    var role: ServiceRole?
    @Flag(help: "Print the result as JSON.") var json = false

    func run() async throws {
        var problems: [ConfigurationFile.Problem] = []
        for file in files {
            let url = URL(filePath: file)
            let configuration = try EffectiveConfiguration(try role(of: url), [], file: url)
            let found = ConfigurationCheck.problems(configuration)
            if let other = found.other { throw other }
            problems += found.problems
        }
        if json {
            Console.result(try JSONText.pretty(problems.map(ProblemView.init)))
        } else {
            for problem in problems { Console.result(problem.description) }
        }
        guard problems.isEmpty else {
            throw CLIError(.configuration, "\(Units.count(problems.count, of: "line")) cannot be used")
        }
        if !json { Console.note("\(Units.count(files.count, of: "file")) can be used") }
    }

    private func role(of file: URL) throws -> ServiceRole {
        if let role { return role }
        let name = file.deletingPathExtension().lastPathComponent
        guard
            let found = ServiceRole.allCases.first(where: { name == $0.rawValue || name.hasPrefix($0.rawValue + "-") })
        else {
            throw CLIError(
                .usage, "the name of '\(file.path)' is not that of a command: \(ServiceRole.names)",
                hint: "say which command reads it: --for worker")
        }
        return found
    }
}

/// `packhorse config show`.
struct ConfigShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the options of a service, and where each value comes from.",
        discussion: """
            Addresses are shown without passwords and queries; keys and secrets are in files, of which only the names are shown.
            Examples:
              packhorse config show worker --config /etc/packhorse/worker.yaml
              packhorse config show coordinator --json --config coordinator.yaml --data /srv/packhorse
            """)

    @Argument(help: ArgumentHelp("The command: \(ServiceRole.names).", valueName: "command")) var role: ServiceRole
    @Flag(help: "Print the result as JSON.") var json = false
    @Argument(parsing: .allUnrecognized, help: ArgumentHelp("Options as for the command itself.", valueName: "options"))
    var options: [String] = []

    func run() async throws {
        let configuration = try EffectiveConfiguration(role, options)
        let found = ConfigurationCheck.problems(configuration)
        if let error = ConfigurationCheck.error(configuration) ?? found.other { throw error }
        if json {
            Console.result(try JSONText.pretty(configuration.settings.map(SettingView.init)))
            return
        }
        var table = Table("option", "value", "from")
        for setting in configuration.settings {
            let text =
                setting.option.isFlag
                ? (setting.values.isEmpty ? "false" : "true") : setting.shown.joined(separator: " ")
            table.add(setting.option.name, text.isEmpty ? "-" : text, setting.origin.text)
        }
        table.lines.forEach(Console.result)
    }
}

/// A problem as JSON.
private struct ProblemView: Encodable {
    let file: String
    let line: Int
    let problem: String

    init(_ problem: ConfigurationFile.Problem) {
        (file, line, self.problem) = (problem.file, problem.line, problem.text)
    }
}

/// A setting as JSON.
private struct SettingView: Encodable {
    let option: String
    let values: [String]
    let from: String

    init(_ setting: Setting) {
        option = setting.option.name
        values = setting.option.isFlag ? [setting.values.isEmpty ? "false" : "true"] : setting.shown
        from = setting.origin.text
    }
}
