package import ArgumentParser
internal import TextFormats

/// A list of files that were or would be removed: the sum first, then the files, at most one screen unless all are
/// requested.
package enum FileList {
    /// Number of files that are listed without `--all`.
    private static let maxFiles = 20

    package static let help: ArgumentHelp = "List every file; otherwise the first 20."

    /// Prints the sum on standard error, then the files on standard output.
    package static func print(_ files: [String], sum: String, all: Bool) {
        Console.note(sum)
        let shown = all ? files[...] : files.prefix(maxFiles)
        for file in shown { Console.result(file) }
        let more = files.count - shown.count
        if more > 0 { Console.note("and \(Units.count(more, of: "more file")): --all lists them") }
    }
}
