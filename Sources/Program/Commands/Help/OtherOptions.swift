import ArgumentParser

/// Options that other programs have, and what to write here.
enum OtherOptions {
    /// - Parameters:
    ///   - names: What other programs call it.
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
        Row(["--buffer"], "--margin", "write --margin 5km"),
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
}
