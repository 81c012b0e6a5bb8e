import ArgumentParser

/// `packhorse jobs`: the list of jobs.
struct JobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs", abstract: "List jobs, newest first.", discussion: "Example: packhorse jobs --limit 5")

    @Option(help: "At most this many.") var limit: UInt32 = 50
    @Flag(help: "The result as JSON.") var json = false
    @Flag(name: .shortAndLong, help: "Job numbers only.") var quiet = false
    @OptionGroup var cluster: ClusterOptions

    func validate() throws {
        guard (1...1_000).contains(limit) else { throw ValidationError("--limit must lie between 1 and 1,000.") }
        guard !json || !quiet else {
            throw ValidationError("--quiet prints job numbers, not JSON: leave out one of --quiet and --json.")
        }
    }

    func run() async throws {
        let views = try await cluster.withClient { try await $0.jobs(limit: limit) }.map(JobView.init).sorted {
            $0.job > $1.job
        }
        if json {
            Console.result(try JSONText.pretty(views))
        } else if quiet {
            for view in views { Console.result("\(view.job)") }
        } else {
            var table = Table("job", "state", "done", "tiles", "failed", "size", "formats", "label")
            for view in views {
                table.add(
                    "\(view.job)", view.state + (view.waiting.map { " (\($0))" } ?? ""),
                    "\(Int(view.fraction * 100)) %", Units.count(view.tiles),
                    Units.count(view.failed), Units.bytes(view.bytes),
                    view.formats.joined(separator: ","), view.label)
            }
            table.lines.forEach(Console.result)
        }
    }
}
