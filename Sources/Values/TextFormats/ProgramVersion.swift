/// The version of this build.
package enum ProgramVersion {
    /// The version in `--version`, Hello and User-Agent.
    package static let current = "0.1.0"
    /// What requests to servers name as their program.
    package static let userAgent = "Packhorse/\(current)"
}
