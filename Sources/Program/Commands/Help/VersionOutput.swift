internal import CommandSupport
internal import TextFormats

/// `packhorse --version`: version, commit and day of the commit.
struct VersionOutput: Encodable {
    let version: String
    /// `nil` when the build did not know it.
    let commit: String?
    /// The day of the commit.
    let date: String?
    /// Whether the sources differed from the commit.
    let modified: Bool

    init(_ commit: ProgramVersion.Commit?) {
        version = ProgramVersion.current
        self.commit = commit?.hash
        date = commit?.date
        modified = commit?.isModified ?? false
    }

    /// Whether a command line asks for the version as JSON.
    static func isMeant(by arguments: [String]) -> Bool {
        Set(arguments) == ["--version", "--json"] && arguments.count == 2
    }
}
