import ArgumentParser
internal import CommandSupport
import Errors
import Foundation

/// The options of a service from all places: the command line over the environment over the file over the defaults.
struct EffectiveConfiguration {
    let role: ServiceRole
    let settings: [Setting]
    /// The problems of the file.
    let problems: [ConfigurationFile.Problem]
    /// The arguments that mean the same without a file.
    let arguments: [String]

    /// - Parameters:
    ///   - arguments: Behind the name of the role, as they were written.
    ///   - file: The file; `nil` = the one that `--config` among the arguments names.
    /// - Throws: As ``ConfigurationFile``.
    init(
        _ role: ServiceRole, _ arguments: [String], file: URL? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        let options = ServiceOption.all(of: role)
        let given = GivenOptions(arguments, options)
        let url = file ?? given.values["config"]?.last.map { URL(filePath: $0) }
        let read = try url.map { try ConfigurationFile($0, role: role, environment: environment) }
        self.role = role
        problems = read?.problems ?? []
        var settings: [Setting] = []
        var added: [String] = []
        for option in options {
            let entry = read?.entries.first { $0.option == option }
            let variable = option.variable.flatMap { name in
                Variable.value(name, in: environment).map { (name, $0) }
            }
            if let values = given.values[option.name] {
                settings.append(Setting(option: option, values: values, origin: .flag))
            } else if let (name, value) = variable {
                settings.append(Setting(option: option, values: [value], origin: .environment(variable: name)))
            } else if let read, let entry {
                let origin = Setting.Origin.file(read.name, line: entry.line)
                settings.append(Setting(option: option, values: entry.values, origin: origin))
                added += Self.words(option, entry.values)
            } else {
                settings.append(Setting(option: option, values: option.usual.map { [$0] } ?? [], origin: .usual))
            }
        }
        self.settings = settings
        // Options of the file come first: what is behind `--` stays behind it.
        self.arguments = added + arguments
    }

    private init(_ other: EffectiveConfiguration, settings: [Setting]) {
        (role, problems, arguments) = (other.role, other.problems, other.arguments)
        self.settings = settings
    }

    /// The same with other settings.
    func with(_ settings: [Setting]) -> EffectiveConfiguration { EffectiveConfiguration(self, settings: settings) }

    /// How an option is written.
    static func words(_ option: ServiceOption, _ values: [String]) -> [String] {
        if option.isFlag { return values.isEmpty ? [] : ["--\(option.name)"] }
        if option.isPositional { return values }
        // One word, so that a value may begin with a hyphen.
        return values.map { "--\(option.name)=\($0)" }
    }

    /// The options whose values in the file are wrong.
    var problemOptions: [String] { problems.compactMap(\.option) }

    /// The options whose values differ from those of an earlier reading.
    func changes(since former: EffectiveConfiguration) -> [Setting] {
        settings.filter { new in former.settings.first { $0.option == new.option }?.values != new.values }
    }
}

/// The options of a command line by name.
struct GivenOptions {
    /// The name of a positional argument has what is no option.
    private(set) var values: [String: [String]] = [:]

    init(_ arguments: [String], _ options: [ServiceOption]) {
        let positional = options.first(where: \.isPositional)?.name
        var rest = arguments[...]
        var isBehindTerminator = false
        while let word = rest.popFirst() {
            if word == "--", !isBehindTerminator {
                isBehindTerminator = true
                continue
            }
            guard word.hasPrefix("--"), !isBehindTerminator else {
                if let positional { values[positional, default: []].append(word) }
                continue
            }
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1).map(String.init)
            guard let name = parts.first else { continue }
            if parts.count == 2 {
                values[name, default: []].append(parts[1])
            } else if name == "config" || options.contains(where: { $0.name == name && !$0.isFlag }) {
                values[name, default: []].append(rest.popFirst() ?? "")
            } else {
                values[name, default: []].append("true")
            }
        }
    }
}
