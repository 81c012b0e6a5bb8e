import ArgumentParser
import Logging
import Telemetry

/// How a server writes its log, always to standard error.
struct LogOptions: ParsableArguments {
    enum Level: String, ExpressibleByArgument, CaseIterable {
        case trace, debug, info, notice, warning, error
    }

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    @Option(help: "Lines below this level are not written.") var logLevel: Level = .notice
    @Option(help: "text or json.") var logFormat: Format = .text

    func logger(_ role: String) -> Logger {
        let style: LogStyle = logFormat == .json ? .json : .text
        return style.logger(label: "packhorse.\(role)", level: Logger.Level(rawValue: logLevel.rawValue) ?? .notice)
    }
}
