import ArgumentParser
internal import CommandSupport
import DeviceCommands
import Errors
import Foundation
import Telemetry
internal import TextFormats

/// The command line: parses, runs, and converts every error into one clear line and a documented exit code.
public enum CommandLineTool {
    /// Runs the arguments (without the program's name) and ends the process.
    ///
    /// - Parameter commit: What the build knows of its commit, as `ops/commit` prints it.
    public static func run(_ arguments: [String], commit: String = "") async -> Never {
        let (arguments, isQuiet) = QuietOption.taken(from: arguments)
        if isQuiet { Console.leaveNotesOut() }
        do {
            if wantsJSONProgress(arguments) { Console.writeMessagesAsJSON() }
            ProgramVersion.commit = ProgramVersion.Commit(commit)
            try refuseEmpty(arguments)
            try ProcessLimits.require(.command)
            if arguments.first.flatMap(ServiceRole.init) != nil { CredentialVariables.set() }
            if VersionOutput.isMeant(by: arguments) {
                Console.result(try JSONText.pretty(VersionOutput(ProgramVersion.commit)))
                exit(ExitStatus.success.rawValue)
            }
            if let topic = HelpTopic(arguments) {
                topic.lines(columns: Terminal.helpColumns).forEach(Console.page)
                exit(ExitStatus.success.rawValue)
            }
            try CommandTree.check(arguments)
            var command = try RootCommand.parseAsRoot(BoxArguments.named(try Configuration.expanded(arguments)))
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            exit(ExitStatus.success.rawValue)
        } catch {
            if let problem = ErrorTranslation.cliError(error) { end(problem, arguments) }
            // Without a width, because HelpText breaks the lines.
            let text = RootCommand.fullMessage(for: error, columns: .max)
            guard RootCommand.exitCode(for: error).isSuccess else {
                end(UsageError.translated(error, arguments), arguments)
            }
            let columns = Terminal.helpColumns
            Console.page(text.hasPrefix("OVERVIEW: ") ? HelpText.fit(text, columns: columns) : text)
            exit(ExitStatus.success.rawValue)
        }
    }

    /// Reports the error, as JSON where the arguments ask for JSON, and ends the process.
    private static func end(_ problem: CLIError, _ arguments: [String]) -> Never {
        let wantsJSON = arguments.prefix { $0 != "--" }.contains("--json") || wantsJSONProgress(arguments)
        if wantsJSON, let line = try? JSONText.line(ErrorView(problem)) {
            Console.noteJSON(line)
        } else {
            Console.error(problem)
        }
        exit(problem.status.rawValue)
    }

    /// Whether standard error has JSON only.
    private static func wantsJSONProgress(_ arguments: [String]) -> Bool {
        let options = arguments.prefix { $0 != "--" }
        return options.contains("--progress=json")
            || zip(options, options.dropFirst()).contains { $0 == "--progress" && $1 == "json" }
    }

    /// Refuses empty arguments.
    ///
    /// No command accepts them: an empty path would mean the current folder.
    ///
    /// - Throws: ``CLIError`` 64 naming the first of them.
    private static func refuseEmpty(_ arguments: [String]) throws {
        for (index, argument) in arguments.enumerated() {
            let wrong: String
            if argument.isEmpty {
                wrong = index == 0 ? " is empty" : ", after '\(arguments[index - 1])', is empty"
            } else if argument.hasPrefix("--"), argument.firstIndex(of: "=") == argument.indices.last {
                wrong = ", '\(argument)', has no value"
            } else {
                continue
            }
            throw CLIError(.usage, "argument \(index + 1)\(wrong)", hint: "check whether a shell variable is unset")
        }
    }
}

/// The root of the command tree.
struct RootCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "packhorse",
        abstract: "Bulk-builds offline map packages from a tile server, with a coordinator and workers.",
        discussion: """
            Start with the built-in world: packhorse demo. The keys of a tileset file: packhorse help tileset

            With --quiet every command writes no progress and no notes on standard error; warnings, errors and the result stay.

            Exit codes: \(ExitStatus.allCases.map { "\($0.rawValue) \($0.name)" }.joined(separator: "; ")).
            """,
        version: "packhorse \(ProgramVersion.text)",
        groupedSubcommands: [
            CommandGroup(
                name: "Jobs",
                subcommands: [
                    BuildCommand.self, SubmitCommand.self, EstimateCommand.self, JobsCommand.self, StatusCommand.self,
                    WatchCommand.self,
                    CancelCommand.self, PauseCommand.self, ResumeCommand.self, RetryCommand.self,
                    PriorityCommand.self, WeightCommand.self, FailedCommand.self, ScheduleCommand.self,
                ]),
            CommandGroup(
                name: "Maps",
                subcommands: [
                    MaskCommand.self, RegionsCommand.self, ConvertCommand.self, InspectCommand.self, VerifyCommand.self,
                    DiffCommand.self, ApplyCommand.self, PacksCommand.self, StylePackCommand.self,
                ]),
            CommandGroup(name: "Catalogs", subcommands: [CatalogCommand.self, DeviceCommand.self]),
            CommandGroup(
                name: "Cluster",
                subcommands: [
                    UpCommand.self, CoordinatorCommand.self, WorkerCommand.self, GatewayCommand.self,
                    WorkersCommand.self,
                    OriginsCommand.self,
                    HealthCommand.self, TopCommand.self, EventsCommand.self, BackupCommand.self, StateCommand.self,
                    KeygenCommand.self, KeysCommand.self, ConfigCommand.self,
                ]),
            CommandGroup(name: "Demo", subcommands: [DemoCommand.self, DemoOriginCommand.self]),
            CommandGroup(name: "Shell", subcommands: [CompletionsCommand.self, ManualCommand.self]),
        ])
}
