import ArgumentParser
internal import CommandSupport
import Errors

/// Parses the options of a file as the command would, and finds the lines that it refuses.
enum ConfigurationCheck {
    /// All problems of a file, in the order of their lines.
    ///
    /// Nothing is opened. An option that the command needs and the file does not have is no problem: the command line may
    /// have it.
    ///
    /// - Returns: The problems; and an error that has no line, when one is left.
    static func problems(
        _ configuration: EffectiveConfiguration
    ) -> (problems: [ConfigurationFile.Problem], other: CLIError?) {
        var problems = configuration.problems
        var left = configuration.settings
        var refused = Set(configuration.problemOptions)
        var other: CLIError?
        // Each round finds one line, so there are at most as many rounds as lines.
        while other == nil, let message = refusal(configuration.role, left) {
            if let blamed = blamed(message, left), case .file(let name, let line) = blamed.origin {
                // What needs an option that is wrong itself is no problem of its own.
                if named(in: message).allSatisfy({ !refused.contains($0) }) {
                    for text in each(of: blamed, configuration.role, left) ?? [message] {
                        problems.append(ConfigurationFile.Problem(file: name, line: line, text: text))
                    }
                }
                refused.insert(blamed.option.name)
                left.removeAll { $0.option == blamed.option }
            } else {
                other = CLIError(.usage, message)
            }
        }
        return (problems.sorted { $0.line < $1.line }, other)
    }

    /// The lines of an error of a start with a file, or `nil` if the file is not the cause.
    static func error(_ configuration: EffectiveConfiguration) -> CLIError? {
        let found = problems(configuration).problems
        guard let first = found.first else { return nil }
        return CLIError(
            .configuration, first.description, details: found.dropFirst().map(\.description),
            hint: "check the file: packhorse config check \(first.file) --for \(configuration.role.rawValue)")
    }

    /// Why the command refuses the values of a list, each for itself; `nil` when only their combination is wrong.
    private static func each(of list: Setting, _ role: ServiceRole, _ settings: [Setting]) -> [String]? {
        guard list.values.count > 1 else { return nil }
        let texts = list.values.compactMap { value in
            let alone = Setting(option: list.option, values: [value], origin: list.origin)
            let others = settings.filter { $0.option != list.option }
            return refusal(role, others + [alone]).flatMap { blamed($0, [alone]) == nil ? nil : $0 }
        }
        return texts.isEmpty ? nil : texts
    }

    /// Why the command refuses settings; `nil` if it does not.
    private static func refusal(_ role: ServiceRole, _ settings: [Setting]) -> String? {
        do {
            _ = try role.command.parse(words(settings))
            return nil
        } catch {
            let text = UsageError.withWordsInLine(role.command.message(for: error))
            return CLIError.oneLine(text.replacing("\n", with: "; "))
        }
    }

    /// The settings as a command line that has everything which is needed.
    private static func words(_ settings: [Setting]) -> [String] {
        settings.flatMap { setting -> [String] in
            switch setting.origin {
            case .flag, .file: EffectiveConfiguration.words(setting.option, setting.values)
            case .environment, .usual:
                setting.option.isNeeded ? EffectiveConfiguration.words(setting.option, ["placeholder"]) : []
            }
        }
    }

    /// The setting of a file that a message names: the first of its options.
    private static func blamed(_ message: String, _ settings: [Setting]) -> Setting? {
        let isOfFile: (Setting) -> Bool = { if case .file = $0.origin { true } else { false } }
        for name in named(in: message) {
            if let found = settings.first(where: { $0.option.name == name && isOfFile($0) }) { return found }
        }
        return nil
    }

    /// The options that a message names.
    private static func named(in message: String) -> [String] {
        message.matches(of: /--([a-z0-9][a-z0-9-]*)|<([a-z-]+)>/).compactMap { match in
            (match.output.1 ?? match.output.2).map(String.init)
        }
    }
}
