import ArgumentParser
internal import CommandSupport
import Errors
import Foundation
import StyleFormat
import Styles
internal import TextFormats
import Transfer

/// `packhorse style-pack`: collects all resources of a style in a folder or an archive.
struct StylePackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "style-pack",
        abstract: "Collect a style's sources, sprites, glyphs, images and data for offline use.",
        discussion: """
            An interrupted run continues where it stopped. A finished pack is updated, and files that the server
            reports as unchanged are not fetched again. Glyph ranges and 2x sprites that do not exist on the server are recorded as absent.

            Examples:
              packhorse style-pack http://127.0.0.1:8080/style.json -o style
              packhorse style-pack 'https://maps.example/s.json?key={key}' --key-env MAPS_KEY -o style.zip
              packhorse style-pack mine.json --style-url https://maps.example/mine.json -o style --dry-run
            """)

    @Argument(help: "The style: a URL (may contain {key} and {language}) or a JSON file.") var style: String
    @Option(name: .shortAndLong, help: "The folder or .zip file to create.") var output: String?
    @OptionGroup var choice: StyleOptions
    @Flag(help: "Include glyphs of ideographs, which most clients draw with the device's font.") var ideographs = false
    @Option(help: "Pixel ratios of the sprites: 1, 2 or 1,2.") var pixelRatio: String = "1,2"
    @Option(help: "Requests in flight at the same time, 1 to 64.") var concurrency: Int = 8
    @Option(help: "Maximum number of requests per second.") var rate: Double?
    @Option(help: "Your contact for the servers' operators: a mail address or web page.") var contact: String?
    @Flag(help: "List the files that would be fetched; write nothing.") var dryRun = false
    @Flag(help: "Print the result as JSON.") var json = false
    @Flag(help: "Show no progress.") var quiet = false

    func validate() throws {
        guard ["1", "2", "1,2", "2,1"].contains(pixelRatio) else {
            throw ValidationError("--pixel-ratio must be 1, 2 or 1,2.")
        }
        guard (1...64).contains(concurrency) else { throw ValidationError("--concurrency must be between 1 and 64.") }
        guard rate.map({ $0 > 0 && $0 <= 100_000 }) ?? true else { throw ValidationError("--rate must be above 0.") }
        guard dryRun || output != nil else {
            throw ValidationError("Missing expected argument '--output <folder or zip>'.")
        }
    }

    func run() async throws {
        let location = try choice.location(of: style)
        var options = StylePackOptions()
        options.choice = StyleChoice(
            ideographs: ideographs, pixelRatios: Set(pixelRatio.split(separator: ",").compactMap { Int($0) }))
        options.transfer.concurrency = concurrency
        options.transfer.requestsPerSecond = rate
        if let contact { options.transfer.userAgent = "Packhorse/\(ProgramVersion.current) (+\(contact))" }
        options.transfer.certificateFile = Variable.value("SSL_CERT_FILE")
        if dryRun { return try await list(location, options) }
        let target = URL(filePath: output ?? "")
        let isArchive = target.pathExtension.lowercased() == "zip"
        if isArchive {
            try OutputLocation.checkFile(target, replacing: false, hint: "remove it, or choose another file")
        }
        let folder = isArchive ? target.appendingPathExtension("partial") : target
        try OutputLocation.makeFolder(folder)
        let line = StyleProgressLine(isQuiet: quiet || json)
        try await Interruptible.run { [options] in
            let report = try await StylePackCollector.collect(location, into: folder, options: options) {
                line.show($0)
            }
            line.end()
            if isArchive {
                try StoredZip.write(try StylePack(folder).files, of: folder, to: target)
                try FileManager.default.removeItem(at: folder)
            }
            for note in report.notes { Console.note("note: \(note)") }
            if json { return Console.result(try JSONText.pretty(report)) }
            Console.result(
                "style pack \(target.path): \(Units.count(report.resources, of: "resource")), "
                    + "\(Units.bytes(report.bytes)); \(Units.count(report.kept)) kept, \(Units.count(report.absent)) absent, "
                    + "\(Units.bytes(report.received)) received")
        }
    }

    private func list(_ location: StyleLocation, _ options: StylePackOptions) async throws {
        let (style, needs) = try await StylePackCollector.needs(location, options: options)
        let plan = StylePlan(style, needs)
        for note in needs.notes { Console.note("note: \(note)") }
        if json { return Console.result(try JSONText.pretty(plan)) }
        plan.lines.forEach(Console.result)
    }
}

/// The style, and the values for the placeholders in its address.
struct StyleOptions: ParsableArguments {
    @Option(
        name: .customLong("style-url"),
        help: "The style file's address for clients; relative references are resolved against it.")
    var styleURL: String?
    @Option(help: "The environment variable with the value of {key}.") var keyEnv: String?
    @Option(name: .customLong("style-language"), help: "Language code that replaces {language} in the address.")
    var language: String?

    /// The key of `--key-env`.
    ///
    /// - Throws: ``CLIError`` 78 when the variable is not set.
    func key() throws -> String? {
        guard let keyEnv else { return nil }
        guard let value = Variable.value(keyEnv) else {
            throw CLIError(
                .configuration, "the environment variable \(keyEnv) is not set or empty", hint: "set it to the key")
        }
        return value
    }

    /// A URL, or an existing file.
    func location(of style: String) throws -> StyleLocation {
        if ["http://", "https://"].contains(where: { style.lowercased().hasPrefix($0) }) {
            guard styleURL == nil else {
                throw CLIError(.usage, "--style-url is only for a style file; '\(style)' is an address")
            }
            return StyleLocation(address: style, key: try key(), language: language)
        }
        let file = URL(filePath: style)
        try FileKind.requireFile(file)
        return StyleLocation(address: styleURL, file: file, key: try key(), language: language)
    }
}

/// The output of `--dry-run`.
private struct StylePlan: Encodable {
    let name: String?
    let resources: Int
    let kinds: [String: Int]
    let fontStacks: [String]
    let urls: [String]

    init(_ style: StyleDocument, _ needs: StyleNeeds) {
        name = style.name
        resources = needs.resources.count + 1
        kinds = Dictionary(needs.resources.map { ($0.kind.rawValue, 1) }, uniquingKeysWith: +)
        fontStacks = style.fontStacks.map(\.joined)
        urls = needs.resources.map(\.url)
    }

    var lines: [String] {
        ["style      \(name ?? "without a name"), \(Units.count(resources, of: "resource"))"]
            + fontStacks.map { "fonts      \($0)" }
            + kinds.sorted { $0.key < $1.key }.map {
                "\($0.key.padding(toLength: 14, withPad: " ", startingAt: 0)) \($0.value)"
            }
            + urls
    }
}
