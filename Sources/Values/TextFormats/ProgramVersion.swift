internal import Synchronization

/// The version of this build.
package enum ProgramVersion {
    /// The version in Hello and User-Agent.
    package static let current = "0.1.0"
    /// What requests to servers name as their program.
    package static let userAgent = "Packhorse/\(current)"

    /// The commit of a build.
    package struct Commit: Hashable, Sendable {
        /// 40 hexadecimal digits.
        package let hash: String
        /// Its day, as the committer saw it: YYYY-MM-DD.
        package let date: String
        /// Whether files of the tree differed from it.
        package let isModified: Bool

        /// Reads what the build wrote: `HASH DATE`, then perhaps `modified`.
        ///
        /// - Returns: `nil` for every other text, such as that of a build which knows no commit.
        package init?(_ text: String) {
            let words = text.split(separator: " ").map(String.init)
            guard words.count == 2 || words.count == 3 && words[2] == "modified", words[0].utf8.count == 40,
                words[0].allSatisfy(\.isHexDigit), words[1].utf8.count == 10
            else { return nil }
            (hash, date, isModified) = (words[0], words[1], words.count == 3)
        }
    }

    private static let known = Mutex<Commit?>(nil)

    /// The commit of this program; `nil` for a build that does not know it.
    ///
    /// The program sets it before anything else.
    package static var commit: Commit? {
        get { known.withLock { $0 } }
        set { known.withLock { $0 = newValue } }
    }

    /// The version with its commit, for people: `0.1.0 (1ebb044c62f1, 2026-11-26)`.
    package static var text: String {
        commit.map { "\(current) (\($0.hash.prefix(12)), \($0.date)\($0.isModified ? ", modified" : ""))" } ?? current
    }
}
