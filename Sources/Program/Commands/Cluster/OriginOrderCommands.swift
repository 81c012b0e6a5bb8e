import ArgumentParser
internal import ClusterClient
internal import CommandSupport
import Wire

/// The name of an origin as `packhorse origins` prints it.
enum OriginName {
    /// The name of a host, of a host with a port, or in a URL.
    ///
    /// - Throws: `ValidationError` for any other text.
    static func parse(_ argument: String) throws -> String {
        let rest = argument.firstRange(of: "://").map { argument[$0.upperBound...] } ?? argument[...]
        var name = rest.prefix { !"/?#".contains($0) }.lowercased()
        // The default port of a scheme is not part of a name.
        if argument.lowercased().hasPrefix("https://"), name.hasSuffix(":443") { name.removeLast(4) }
        if argument.lowercased().hasPrefix("http://"), name.hasSuffix(":80") { name.removeLast(3) }
        guard !name.isEmpty, name.utf8.count <= 300, name.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw ValidationError("expected a host or a URL: tiles.example.com")
        }
        return name
    }
}

/// `packhorse origins open`.
struct OriginsOpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Remove the block of an origin that sent Retry-After or was down.",
        discussion: """
            The block ends for all workers at once, also for waiting requests. If the origin sends Retry-After again, \
            or fails again, it is blocked again. Has no effect on an open origin.
            Example: packhorse origins open tiles.example.com
            """)

    @Argument(
        help: "The origin's name as shown by 'packhorse origins', or a URL of it.", transform: OriginName.parse)
    var origin: String
    @OptionGroup var cluster: ClusterOptions

    func run() async throws {
        let answer = try await cluster.withClient { try await $0.order("open", .make { $0.origin = origin }) }
        Console.result(answer.text)
    }
}

/// `packhorse origins limit`.
struct OriginsLimitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limit", abstract: "Limit the requests of the whole cluster to an origin, without a new job.",
        discussion: """
            The strictest of this limit and those of the tilesets applies, so it can slow a job down but not speed it \
            up. It replaces the operator's earlier limit, applies at once, and is kept until it is removed with --clear, \
            also after a restart of the coordinator and for later jobs.
            Examples:
              packhorse origins limit tiles.example.com --requests-per-second 20 --concurrency 4
              packhorse origins limit tiles.example.com --bytes-per-second 5MB
              packhorse origins limit tiles.example.com --clear
            """)

    @Argument(
        help: "The origin's name as shown by 'packhorse origins', or a URL of it.", transform: OriginName.parse)
    var origin: String
    @Option(help: "Requests started per second, at least 0.001.") var requestsPerSecond: Double?
    @Option(help: "Requests in flight at the same time, 1 to 1000000.") var concurrency: UInt32?
    @Option(
        help: ArgumentHelp("Bytes received per second, 10kB to 1TB, for example 500kB.", valueName: "bytes/s"))
    var bytesPerSecond: String?
    @Flag(help: "Remove the operator's limit.") var clear = false
    @OptionGroup var cluster: ClusterOptions

    func validate() throws {
        guard clear == (requestsPerSecond == nil && concurrency == nil && bytesPerSecond == nil) else {
            throw ValidationError(
                clear
                    ? "--clear removes the limits. Use it alone."
                    : "Give --requests-per-second, --concurrency, --bytes-per-second, or --clear.")
        }
        _ = try ByteRate.parse(bytesPerSecond, option: "--bytes-per-second")
        if let rate = requestsPerSecond, !(rate.isFinite && rate >= 0.001) {
            throw ValidationError("--requests-per-second must be at least 0.001, not \(rate).")
        }
        if let concurrency, !(1...1_000_000).contains(concurrency) {
            throw ValidationError("--concurrency must be between 1 and 1000000, not \(concurrency).")
        }
    }

    func run() async throws {
        var limit = PBOriginLimit()
        limit.origin = origin
        limit.perSecond = requestsPerSecond ?? 0
        limit.concurrency = concurrency ?? 0
        limit.bytesPerSecond = try ByteRate.parse(bytesPerSecond, option: "--bytes-per-second").map { Double($0) } ?? 0
        let answer = try await cluster.withClient { [limit] in try await $0.order(clear ? "clear" : "limit", limit) }
        Console.result(answer.text)
    }
}
