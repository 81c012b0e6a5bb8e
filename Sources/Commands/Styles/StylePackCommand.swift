import ArgumentParser
import Foundation
import Styles
import Transfer

/// `packhorse style-pack`: everything a style needs, in a folder or an archive.
struct StylePackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "style-pack",
        abstract: "Collect a style's sources, sprites, glyphs, images and data for use without a network.",
        discussion: """
            A run that was interrupted goes on where it stopped; a finished pack is brought up to date, and what the server
            says is unchanged is not fetched again. Glyph ranges and 2x sprites that the server does not have are noted as absent.

            Examples:
              packhorse style-pack http://127.0.0.1:8080/style.json -o style
              packhorse style-pack 'https://maps.example/s.json?key={key}' --key-env MAPS_KEY -o style.zip
              packhorse style-pack mine.json --style-url https://maps.example/mine.json -o style --dry-run
            """)

    @Argument(help: "The style: a URL (may hold {key} and {language}) or a JSON file.") var style: String
    @Option(name: .shortAndLong, help: "The folder or .zip file to make.") var output: String?
    @OptionGroup var choice: StyleOptions
    @Flag(help: "Glyphs of ideographs too, which most clients draw with the device's font.") var ideographs = false
    @Option(help: "Sprites for which screens: 1, 2 or 1,2.") var pixelRatio: String = "1,2"
    @Option(help: "Requests in flight at once, 1 to 64.") var concurrency: Int = 8
    @Option(help: "Requests per second at most.") var rate: Double?
    @Option(help: "Who runs this, for the servers' operators: a mail address or page.") var contact: String?
    @Flag(help: "List what would be fetched; write nothing.") var dryRun = false
    @Flag(help: "The result as JSON.") var json = false
    @Flag(help: "No progress line.") var quiet = false

    func validate() throws {
        guard ["1", "2", "1,2", "2,1"].contains(pixelRatio) else {
            throw ValidationError("--pixel-ratio is 1, 2 or 1,2.")
        }
        guard (1...64).contains(concurrency) else { throw ValidationError("--concurrency must lie between 1 and 64.") }
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
        if let contact { options.transfer.userAgent = "Packhorse/\(CommandLineTool.version) (+\(contact))" }
        options.transfer.certificateFile = Variable.value("SSL_CERT_FILE")
        if dryRun { return try await list(location, options) }
        let target = URL(filePath: output ?? "")
        let isArchive = target.pathExtension.lowercased() == "zip"
        if isArchive {
            try OutputPlace.checkFile(target, replacing: false, hint: "remove it, or name another file")
        }
        let folder = isArchive ? target.appendingPathExtension("partial") : target
        try OutputPlace.makeFolder(folder)
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

/// Which style, and what fills its address.
struct StyleOptions: ParsableArguments {
    @Option(
        name: .customLong("style-url"),
        help: "The address clients know a style file by; relative references are read against it.")
    var styleURL: String?
    @Option(help: "The environment variable whose value {key} stands for.") var keyEnv: String?
    @Option(name: .customLong("style-language"), help: "Language code put in place of {language} in the address.")
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
                throw CLIError(.usage, "--style-url is for a style file; '\(style)' is an address already")
            }
            return StyleLocation(address: style, key: try key(), language: language)
        }
        let file = URL(filePath: style)
        try FileKind.requireFile(file)
        return StyleLocation(address: styleURL, file: file, key: try key(), language: language)
    }
}

/// What `--dry-run` tells.
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
