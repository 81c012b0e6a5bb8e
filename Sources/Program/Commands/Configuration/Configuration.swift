import ArgumentParser
internal import CommandSupport
import Errors
import Foundation
import Synchronization
internal import Telemetry

/// The option that names a file with options.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A YAML file with options of this command, such as log-level: info; see docs/reference/configuration.md.",
            valueName: "file"))
    var config: String?
}

/// The configuration that this process was started with.
enum Configuration {
    private struct Start {
        let configuration: EffectiveConfiguration
        let arguments: [String]
    }

    private static let start = Mutex<Start?>(nil)

    /// The arguments with the options of the file that `--config` names; all others unchanged.
    ///
    /// - Throws: ``CLIError`` 78 with file and line for a wrong key or value; 66 for a missing file.
    static func expanded(_ arguments: [String]) throws -> [String] {
        guard let role = arguments.first.flatMap(ServiceRole.init),
            arguments.contains(where: { $0 == "--config" || $0.hasPrefix("--config=") }),
            !arguments.contains("--help"), !arguments.contains("-h")
        else { return arguments }
        let own = Array(arguments.dropFirst())
        let configuration = try EffectiveConfiguration(role, own)
        if let error = ConfigurationCheck.error(configuration) { throw error }
        start.withLock { $0 = Start(configuration: configuration, arguments: own) }
        return [role.rawValue] + configuration.arguments
    }

    /// Reads the file again on SIGHUP; none without a file.
    static var reloadSteps: [ReloadStep] {
        guard start.withLock({ $0 }) != nil else { return [] }
        return [ReloadStep("configuration") { try reload() }]
    }

    /// Reads the file again, and applies what can change in a running process.
    ///
    /// - Returns: What changed, and what of it needs a restart.
    private static func reload() throws -> String {
        guard let started = start.withLock({ $0 }) else { return "no file" }
        let former = started.configuration
        let new = try EffectiveConfiguration(former.role, started.arguments)
        if let error = ConfigurationCheck.error(new) { throw error }
        var parts: [String] = []
        let changes = new.changes(since: former)
        for change in changes where former.role.reloaded.contains(change.option.name) {
            apply(change)
            parts.append("\(change.option.name) is \(change.shown.joined(separator: ", "))")
        }
        let others = changes.map(\.option.name).filter { !former.role.reloaded.contains($0) }
        if !others.isEmpty { parts.append("needs a restart: \(others.joined(separator: ", "))") }
        // What needs a restart stays named until then.
        let kept = former.settings.map { old in
            others.contains(old.option.name) ? old : new.settings.first { $0.option == old.option } ?? old
        }
        start.withLock { $0 = Start(configuration: former.with(kept), arguments: started.arguments) }
        return parts.isEmpty ? "unchanged" : parts.joined(separator: "; ")
    }

    /// The settings of ``ServiceRole/reloaded``.
    private static func apply(_ setting: Setting) {
        guard setting.option.name == "log-level", let value = setting.values.last,
            let level = LogOptions.Level(rawValue: value)
        else { return }
        LogOptions.level.current = level.level
    }
}
