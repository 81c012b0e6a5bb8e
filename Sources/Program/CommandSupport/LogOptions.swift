package import ArgumentParser
package import Logging
package import Telemetry

/// The format and level of a server's log.
///
/// It is always written to standard error.
package struct LogOptions: ParsableArguments {
    package enum Level: String, ExpressibleByArgument, CaseIterable {
        case trace, debug, info, notice, warning, error

        /// The same level of the log.
        package var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .notice }
    }

    package enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    @Option(help: "The lowest level that is written.") package var logLevel: Level = .notice
    @Option(help: "text or json.") package var logFormat: Format = .text

    package init() {}

    /// The level of the log of this process, which a reload may change.
    package static let level = LogLevel()

    /// The logger of a role: `packhorse.worker`.
    package func logger(_ role: String) -> Logger {
        let style: LogStyle = logFormat == .json ? .json : .text
        Self.level.current = logLevel.level
        return style.logger(label: "packhorse.\(role)", level: Self.level)
    }
}
