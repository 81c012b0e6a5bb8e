import ArgumentParser
internal import TextFormats

/// Options that other programs and languages have, and what to write here.
enum OtherOptions {
    /// - Parameters:
    ///   - names: What others call it.
    ///   - ours: A command that has this option or argument in its help gets the hint.
    ///   - hint: What to write.
    private struct Row {
        let names: Set<String>
        let ours: String
        let hint: String

        init(_ names: Set<String>, _ ours: String, _ hint: String) {
            (self.names, self.ours, self.hint) = (names, ours, hint)
        }
    }

    private static let rows = [
        Row(
            ["--gpx", "--kml", "--track", "--tracks", "--line", "--path"], "--route",
            "write --route FILE --margin 1km for the surroundings of lines, or --area FILE for areas"),
        Row(["--poly", "--polygon", "--shapefile", "--clip", "--boundary"], "--area", "write --area FILE"),
        Row(
            ["--bbox", "--bounds", "--box", "--extent"], "<areas>",
            "write the box as an argument: \"bbox(west,south,east,north)\""),
        Row(
            ["--country", "--countries", "--region", "--place", "--town"], "<areas>",
            "write the region or town as an argument: EE, \"Tartu, EE\""),
        Row(["--buffer", "--marge"], "--margin", "write --margin 5km"),
        Row(
            ["--zooms", "--minzoom", "--maxzoom", "--min-zoom", "--max-zoom"], "--zoom",
            "write both zooms in one option: --zoom 0-14"),
        Row(["--url", "--source", "--tiles", "--input"], "--tileset", "write --tileset with a file or an address"),
        Row(["--threads", "--concurrency", "--parallel", "--processes"], "--workers", "write --workers N"),
        Row(["--overwrite"], "--force", "write --force"),
    ]

    /// What to write in place of an option that the command does not have; `nil` when no program is known that has it.
    static func hint(for option: String, of command: any ParsableCommand.Type) -> String? {
        let help = RootCommand.helpMessage(for: command)
        return rows.first { $0.names.contains(option) && help.contains("  \($0.ours) ") }?.hint
    }

    /// The first long option of a command line that no help of its commands names; `nil` when there is none.
    ///
    /// - Parameters:
    ///   - words: What follows the name of the command.
    ///   - path: The command and those above it.
    static func unknown(in words: some Sequence<String>, of path: [any ParsableCommand.Type]) -> String? {
        let help = help(of: path)
        // These are options of another command.
        guard !help.contains("<options> ...") else { return nil }
        let known = names(in: help)
        return words.prefix { $0 != "--" }.lazy
            .filter { $0.hasPrefix("--") }
            .map { String($0.prefix { $0 != "=" }) }
            .first { !known.contains($0) }
    }

    /// The long option of these commands that is nearest to a mistyped one.
    static func nearest(to option: String, of path: [any ParsableCommand.Type]) -> String? {
        Nearest.word(to: option, among: names(in: help(of: path)).sorted())
    }

    private static func help(of path: [any ParsableCommand.Type]) -> String {
        let all = path + [path.last?.configuration.defaultSubcommand].compactMap(\.self)
        return all.map { RootCommand.helpMessage(for: $0, includeHidden: true, columns: .max) }.joined(separator: "\n")
    }

    /// All words that begin as a long option.
    private static func names(in help: String) -> Set<String> {
        Set(help.matches(of: /--[A-Za-z][A-Za-z0-9-]*/).map { String($0.output) })
    }
}
