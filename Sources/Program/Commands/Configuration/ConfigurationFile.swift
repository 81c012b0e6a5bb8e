internal import CommandSupport
import Errors
import Foundation
internal import TextFormats
import Tilesets

/// Options of a service in a YAML file: `log-level: info` is `--log-level info`.
struct ConfigurationFile {
    /// What is wrong in a line.
    struct Problem: Equatable {
        let file: String
        let line: Int
        let text: String
        /// The option whose value is wrong; `nil` for another problem.
        var option: String?

        var description: String { "\(file):\(line): \(text)" }
    }

    struct Entry: Equatable {
        let option: ServiceOption
        /// Of a flag: none when it is `false`.
        let values: [String]
        let line: Int
    }

    let name: String
    let entries: [Entry]
    let problems: [Problem]

    /// The largest file that is read.
    private static let maxBytes = 1 << 20

    /// Reads a file.
    ///
    /// - Parameter environment: Has `CREDENTIALS_DIRECTORY`, in which `credential:NAME` is.
    /// - Throws: ``CLIError`` 66 for a missing file; 78 for one that is too large. What is wrong in its text is in
    ///   ``problems``: one for a text that is not YAML, else one for each wrong key or value.
    init(_ url: URL, role: ServiceRole, environment: [String: String]) throws {
        try FileKind.requireFile(url)
        guard try FileKind.size(url) <= Self.maxBytes else {
            throw CLIError(.configuration, "'\(url.path)' has more than \(Self.maxBytes) bytes, too many for options")
        }
        self.init(
            text: String(decoding: try InputFile.read(url), as: UTF8.self), name: url.relativePath, role: role,
            environment: environment)
    }

    init(text: String, name: String, role: ServiceRole, environment: [String: String]) {
        self.name = name
        let options = ServiceOption.all(of: role)
        var entries: [Entry] = []
        var problems: [Problem] = []
        let settings: YAMLSettings
        do { settings = try YAMLSettings(yaml: text) } catch {
            self.entries = []
            self.problems = [Problem(file: name, line: error.line, text: error.text)]
            return
        }
        for entry in settings.entries {
            func refuse(_ text: String) { problems.append(Problem(file: name, line: entry.line, text: text)) }
            guard let option = options.first(where: { $0.name == entry.key }) else {
                refuse(Self.unknown(entry.key, among: options, of: role))
                continue
            }
            do {
                let values = try Self.values(entry, of: option, environment)
                entries.append(Entry(option: option, values: values, line: entry.line))
            } catch {
                problems.append(
                    Problem(file: name, line: entry.line, text: "\(entry.key): \(error.text)", option: option.name))
            }
        }
        self.entries = entries
        self.problems = problems
    }

    private struct Wrong: Error { let text: String }

    private static func values(
        _ entry: YAMLSettings.Entry, of option: ServiceOption, _ environment: [String: String]
    ) throws(Wrong) -> [String] {
        if option.isFlag {
            switch entry.values.first?.lowercased() {
            case "true"? where !entry.isList: return ["true"]
            case "false"? where !entry.isList: return []
            default: throw Wrong(text: "true or false is expected")
            }
        }
        guard option.isRepeating || !entry.isList else { throw Wrong(text: "one value is expected, not a list") }
        guard entry.values.allSatisfy({ !$0.isEmpty }), entry.isList || entry.values.count == 1 else {
            throw Wrong(text: "the value is empty")
        }
        var values: [String] = []
        for value in entry.values { values.append(try credential(value, environment)) }
        return values
    }

    /// The file of a credential that systemd gives to the service (`LoadCredential=`), for `credential:NAME`.
    private static func credential(_ value: String, _ environment: [String: String]) throws(Wrong) -> String {
        let prefix = "credential:"
        guard value.hasPrefix(prefix) else { return value }
        let name = value.dropFirst(prefix.count)
        guard !name.isEmpty, !name.contains("/"), !name.hasPrefix(".") else {
            throw Wrong(text: "'\(value)' names no credential")
        }
        guard let folder = Variable.value("CREDENTIALS_DIRECTORY", in: environment) else {
            throw Wrong(
                text:
                    "there are no credentials: $CREDENTIALS_DIRECTORY is not set; the unit needs LoadCredential=\(name):FILE"
            )
        }
        return "\(folder)/\(name)"
    }

    private static func unknown(_ key: String, among options: [ServiceOption], of role: ServiceRole) -> String {
        let names = options.map(\.name)
        let near = Nearest.word(to: key.replacing("_", with: "-").lowercased(), among: names)
        let other = ServiceRole.allCases.first { other in
            other != role && ServiceOption.all(of: other).contains { $0.name == key }
        }
        let hint = near.map { "did you mean '\($0)'?" } ?? other.map { "it is an option of '\($0.rawValue)'" }
        return "unknown key '\(key.prefix(60))'; " + (hint ?? "see 'packhorse help \(role.rawValue)'")
    }
}
