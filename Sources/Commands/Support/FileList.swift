import ArgumentParser

/// A list of files that went or would go: the sum first, then the files, not more than fit a screen unless asked for.
enum FileList {
    /// Files that are named without `--all`.
    private static let most = 20

    static let help: ArgumentHelp = "Name every file; otherwise the first 20."

    /// Says the sum on standard error, then names files on standard output.
    static func tell(_ files: [String], sum: String, all: Bool) {
        Console.note(sum)
        let shown = all ? files[...] : files.prefix(most)
        for file in shown { Console.result(file) }
        let more = files.count - shown.count
        if more > 0 { Console.note("and \(Units.count(more, of: "more file")): --all names them") }
    }
}
