import ArgumentParser
internal import ClusterClient
internal import CommandSupport
import Errors
internal import TextFormats
import Wire

/// `packhorse health`: whether the coordinator is running, for health checks and people.
struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health", abstract: "Check the coordinator: exit code 0 if it is running, else another code.",
        discussion: """
            Exit code 75 for a failure: a coordinator that cannot write its state file, a full catalog disk, too few workers. A warning ends with
            0, or with 75 under --strict: a schedule whose last firing or job failed, a blocked origin, a nearly full catalog disk.
            It ends with 69 when no coordinator answers, and with 66, 77 or 78 when keys or the endpoint are wrong.
            Example: packhorse health --timeout 2
            """)

    @Flag(help: "Print the result as JSON.") var json = false
    @Flag(help: "Use exit code 75 for a warning too.") var strict = false
    @Option(help: "Also require at least this many connected workers.") var workers: Int = 0
    @OptionGroup var cluster: ClusterOptions

    func run() async throws {
        let (health, connected) = try await cluster.withClient { client in
            (try await client.health(), workers > 0 ? try await client.workers().count { !$0.isSilent } : 0)
        }
        let report = HealthReport(health, connected: connected, wanted: workers, isStrict: strict)
        if json {
            Console.result(try JSONText.pretty(health))
        } else {
            Console.result(report.line)
            for line in report.warnings.flatMap({ $0.split(separator: "\n") }) { Console.note(String(line)) }
        }
        if let failure = report.failure { throw failure }
    }
}

/// The output and the result of `packhorse health` for a coordinator's answer.
struct HealthReport {
    /// The answer as a line.
    let line: String
    /// A line for each finding that does not end the command.
    let warnings: [String]
    /// The reason for another exit code than 0; `nil` = exit code 0.
    let failure: CLIError?

    /// Evaluates an answer.
    ///
    /// - Parameters:
    ///   - connected: Number of workers with a recent message.
    ///   - wanted: Required number of workers.
    ///   - isStrict: Whether a warning counts as a failure.
    init(_ health: PBHealth, connected: Int, wanted: Int, isStrict: Bool) {
        let age = Double(health.backupAgeMs) / 1_000
        let made = age > 0 ? "\(Units.duration(seconds: age)) old" : "not made yet"
        let backup = health.backupPlace.isEmpty ? "" : "  backup \(made), in \(health.backupPlace)"
        line = "\(health.state)  \(health.build)  epoch \(health.epoch)  catalog \(health.catalog)\(backup)"
        let isFatal: (PBHealthFinding) -> Bool = { isStrict || $0.level == "fail" }
        let worst = health.findings.first { $0.level == "fail" } ?? health.findings.first(where: isFatal)
        failure =
            if health.state != "serving" {
                CLIError(
                    .temporary, "the coordinator is \(health.state)",
                    hint: "read its log for the cause, often a full disk"
                )
            } else if let worst {
                CLIError(.temporary, worst.text, hint: worst.hint.isEmpty ? nil : worst.hint)
            } else if connected < wanted {
                CLIError(.temporary, "\(connected) of \(wanted) workers are connected")
            } else {
                nil
            }
        let said = health.state == "serving" ? worst : nil
        warnings = health.findings.filter { $0 != said }.map { finding in
            "packhorse: \(finding.level == "fail" ? "error" : "warning"): \(finding.text)"
                + (finding.hint.isEmpty ? "" : "\nhint: \(finding.hint)")
        }
    }
}
