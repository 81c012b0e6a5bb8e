import ArgumentParser
import Logging
import Telemetry

/// The format and level of a server's log.
///
/// It is always written to standard error.
struct LogOptions: ParsableArguments {
    enum Level: String, ExpressibleByArgument, CaseIterable {
        case trace, debug, info, notice, warning, error
    }

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    @Option(help: "The lowest level that is written.") var logLevel: Level = .notice
    @Option(help: "text or json.") var logFormat: Format = .text

    func logger(_ role: String) -> Logger {
        let style: LogStyle = logFormat == .json ? .json : .text
        return style.logger(label: "packhorse.\(role)", level: Logger.Level(rawValue: logLevel.rawValue) ?? .notice)
    }
}
