import Foundation
public import Logging
import Tiles

/// The format of a process's log lines.
///
/// They are always written to standard error.
public enum LogStyle: String, Sendable, CaseIterable {
    /// One readable line: time, level, label, message, sorted metadata.
    case text
    /// One JSON object per line, keys sorted.
    case json

    /// Makes the logger of an executable.
    ///
    /// Changes no global state: libraries get the logger as a value.
    ///
    /// - Parameters:
    ///   - label: for example `packhorse.worker`.
    ///   - level: lines below it are dropped before they are formatted; a change of it counts at once.
    public func logger(label: String, level: LogLevel) -> Logger {
        Logger(label: label) { LineHandler(label: $0, style: self, level: level) }
    }
}

/// Writes each line with one `write(2)`, so that lines of several processes on one terminal do not mix.
///
/// Messages and metadata may contain external text: control characters are written as escapes that are also valid in
/// JSON.
private struct LineHandler: LogHandler {
    let label: String
    let style: LogStyle
    let level: LogLevel
    /// The level of this copy of the logger alone, if it was set.
    private var ownLevel: Logger.Level?
    var logLevel: Logger.Level {
        get { ownLevel ?? level.current }
        set { ownLevel = newValue }
    }
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(label: String, style: LogStyle, level: LogLevel) {
        self.label = label
        self.style = style
        self.level = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        let fields = all.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") }
        let time = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        let line =
            switch style {
            case .text: textLine(time, event: event, fields: fields)
            case .json: jsonLine(time, event: event, fields: fields)
            }
        StatusLine.write(Journal.mark(Journal.Priority(event.level)) + VisibleText.escaped(line))
    }

    private func textLine(_ time: String, event: LogEvent, fields: [(String, String)]) -> String {
        let tail = fields.map { " \($0.0)=\($0.1)" }.joined()
        return (Journal.isReader ? "" : "\(time) ") + "\(event.level) \(label): \(event.message)\(tail)"
    }

    private func jsonLine(_ time: String, event: LogEvent, fields: [(String, String)]) -> String {
        var object = ["time": time, "level": "\(event.level)", "label": label, "message": "\(event.message)"]
        object.merge(fields) { $1 }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts can always be encoded.
        guard let data = try? encoder.encode(object) else { return "{\"message\":\"unprintable\"}" }
        return String(decoding: data, as: UTF8.self)
    }
}
