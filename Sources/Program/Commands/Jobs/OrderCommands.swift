import ArgumentParser
internal import ClusterClient
internal import CommandSupport
internal import TextFormats
import Wire

/// The common options of orders for one job.
struct OrderOptions: ParsableArguments {
    @Argument(help: "The job's number.") var job: UInt64
    @Flag(help: "Print the result as JSON.") var json = false
    @OptionGroup var cluster: ClusterOptions

    /// Sends the order and prints the result.
    ///
    /// - Parameter complete: Adds the values of the order.
    func send(_ order: String, _ complete: @Sendable (inout PBJobOrder) -> Void = { _ in }) async throws {
        var message = PBJobOrder.make {
            $0.job = job
            $0.order = order
        }
        complete(&message)
        let answer = try await cluster.withClient { [message] client in
            // A job whose blobs are being removed takes orders when they are gone.
            try await Patience.outlast([.later]) { try await client.order(message) }
        }
        try OrderedView(answer).show(asJSON: json)
    }
}

/// The result of an order, as printed.
struct OrderedView: Encodable {
    let changed: UInt64
    let text: String
    let warnings: [String]

    init(_ answer: PBOrdered) {
        changed = answer.changed
        text = answer.text
        warnings = answer.warnings
    }

    func show(asJSON: Bool) throws {
        if asJSON { return Console.result(try JSONText.pretty(self)) }
        Console.note(text)
        warnings.forEach(Console.warning)
    }
}

/// `packhorse pause`.
struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause a job: take its running work back and start no more until it is resumed.",
        discussion: """
            Running batches are fetched again later; meanwhile no request is made for the job.

            Example: packhorse pause 1
            """)
    @OptionGroup var options: OrderOptions

    func run() async throws { try await options.send("pause") }
}

/// `packhorse resume`.
struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Continue a paused job with its earlier priority.",
        discussion: "Example: packhorse resume 1")
    @OptionGroup var options: OrderOptions

    func run() async throws { try await options.send("resume") }
}

/// `packhorse retry`.
struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Continue a failed or cancelled job.",
        discussion: """
            Of a failed job only the failed tiles are fetched again, as long as its tiles are kept (the last ten failed jobs). A cancelled job
            starts from the beginning.

            A job whose packages were not published because they are much smaller than those in the catalog (package-shrunk), or
            of another area (other-area), can be allowed to publish them. A job whose tiles do not fit its --max-file (package-too-large) gets
            another one, also while it runs; all of its packages are then merged again, and those of a list with max_file keep that. A job with --together publishes nothing when a package fails; with
            --apart it publishes those that can be built.

            Of a job that is done, the steps after it (submit --then) continue with the one that failed.

            Examples:
              packhorse retry 1
              packhorse retry 1 --allow-shrink
              packhorse retry 1 --max-file 2GB
            """)
    @OptionGroup var options: OrderOptions
    @Flag(
        help:
            "Publish packages that have less than half of the tiles or bytes of the catalog's versions, or lack their attribution or vector layers."
    )
    var allowShrink = false
    @Flag(help: "Allow packages to replace packages of another area or of more zooms, and to be smaller.")
    var replaceArea = false
    @Flag(help: "Publish each package when it is ready, although the job was submitted with --together.") var apart =
        false
    @Option(
        help: ArgumentHelp(
            "The largest size of a file from now on, for example 4GB; 0 = no limit. All packages are merged again, and no tile is fetched for it.",
            valueName: "size"))
    var maxFile: String?

    func validate() throws {
        guard let maxFile, maxFile != "0" else { return }
        try FileSizeOption.check(maxFile)
    }

    func run() async throws {
        try await options.send("retry") { [allowShrink, replaceArea, apart, maxFile] in
            $0.setsMaxFile = maxFile != nil
            $0.publish.maxFile = maxFile.flatMap(Units.size) ?? 0
            $0.publish.allowsShrink = allowShrink
            $0.publish.replacesArea = replaceArea
            $0.apart = apart
        }
    }
}

/// `packhorse priority`.
struct PriorityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "priority", abstract: "Set a job's priority: higher runs first, below 0 is paused.",
        discussion: "Example: packhorse priority 1 5")
    @OptionGroup var options: OrderOptions
    @Argument(help: "The new priority; write -- before a negative one.") var priority: Int32

    func run() async throws { try await options.send("prioritise") { [priority] in $0.priority = priority } }
}

/// `packhorse weight`.
struct WeightCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "weight", abstract: "Set a job's share of the cluster among jobs of its priority.",
        discussion: "Example: packhorse weight 1 3")
    @OptionGroup var options: OrderOptions
    @Argument(help: "The new weight, at least 1.") var weight: UInt32

    func validate() throws {
        guard weight > 0 else { throw ValidationError("A weight must be at least 1.") }
    }

    func run() async throws { try await options.send("weigh") { [weight] in $0.weight = weight } }
}
