import ArgumentParser
import Wire

/// What every order about one job has in common.
struct OrderOptions: ParsableArguments {
    @Argument(help: "The job's number.") var job: UInt64
    @Flag(help: "The result as JSON.") var json = false
    @OptionGroup var cluster: ClusterOptions

    /// Gives the order and prints what came of it.
    func give(_ order: String, priority: Int32 = 0, weight: UInt32 = 0) async throws {
        let answer = try await cluster.withClient {
            try await $0.order(job, order, priority: priority, weight: weight)
        }
        try OrderedView(answer).show(asJSON: json)
    }
}

/// What came of an order, as printed.
struct OrderedView: Encodable {
    let changed: UInt64
    let text: String

    init(_ answer: PBOrdered) {
        changed = answer.changed
        text = answer.text
    }

    func show(asJSON: Bool) throws {
        if asJSON { Console.result(try JSONText.pretty(self)) } else { Console.note(text) }
    }
}

/// `packhorse pause`.
struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Take a job's running work back and begin no more until it is resumed.",
        discussion: """
            What was being fetched is fetched again later; no request is made for the job meanwhile.

            Example: packhorse pause 1
            """)
    @OptionGroup var options: OrderOptions

    func run() async throws { try await options.give("pause") }
}

/// `packhorse resume`.
struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Let a paused job go on with the priority it had.",
        discussion: "Example: packhorse resume 1")
    @OptionGroup var options: OrderOptions

    func run() async throws { try await options.give("resume") }
}

/// `packhorse retry`.
struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Let a failed or cancelled job go on.",
        discussion: """
            Of a failed job only what failed is fetched again, as long as its tiles are kept (the last ten failed jobs); a cancelled one
            starts from the beginning.

            Example: packhorse retry 1
            """)
    @OptionGroup var options: OrderOptions

    func run() async throws { try await options.give("retry") }
}

/// `packhorse prioritise`.
struct PrioritiseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prioritise", abstract: "Set a job's priority: higher goes first, below 0 is paused.",
        discussion: "Example: packhorse prioritise 1 5")
    @OptionGroup var options: OrderOptions
    @Argument(help: "The new priority; write -- before a negative one.") var priority: Int32

    func run() async throws { try await options.give("prioritise", priority: priority) }
}

/// `packhorse weigh`.
struct WeighCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "weigh", abstract: "Set a job's share of the cluster among jobs of its priority.",
        discussion: "Example: packhorse weigh 1 3")
    @OptionGroup var options: OrderOptions
    @Argument(help: "The new weight, at least 1.") var weight: UInt32

    func validate() throws {
        guard weight > 0 else { throw ValidationError("A weight is at least 1.") }
    }

    func run() async throws { try await options.give("weigh", weight: weight) }
}
