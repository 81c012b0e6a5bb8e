import ArgumentParser
import Foundation

/// `bench-device reads`: measures reads, also while a store changes, each next to a raw SQLite look-up or a quiet store.
///
/// Uses the public API alone. Prints the rows as JSON; `make bench-device` judges them and adds the rows that need other
/// programs and a web server.
struct ReadsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reads", abstract: "Measure reads of the library for apps against raw SQLite.")

    @Option(help: "Number of packages.") var packages = 600
    @Option(help: "Reads of each measurement.") var reads = 20_000
    @Option(help: "Rounds of reads; medians are used.") var rounds = 7
    @Option(help: "Megabytes that are removed while readers read.") var removed = 2_048
    @Option(help: "Updates that are installed while readers read.") var updates = 100

    func validate() throws {
        guard (1...600).contains(packages) else { throw ValidationError("--packages must be between 1 and 600.") }
        guard (100...10_000_000).contains(reads) else {
            throw ValidationError("--reads must be between 100 and 10000000.")
        }
        guard (1...99).contains(rounds) else { throw ValidationError("--rounds must be between 1 and 99.") }
        guard (1...100_000).contains(removed) else { throw ValidationError("--removed must be between 1 and 100000.") }
        guard (1...10_000).contains(updates) else { throw ValidationError("--updates must be between 1 and 10000.") }
    }

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "packhorse-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // Remaining files are harmless.
        let maps = BenchMaps(folder: folder, count: packages)
        var rows = try await ReadingRows(maps: maps, reads: reads, rounds: rounds).rows()
        rows += try await ChangeRows(maps: maps, updates: updates, removed: removed).rows()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        print(String(decoding: try encoder.encode(rows), as: UTF8.self))
    }
}

/// What was measured and the largest accepted value.
struct Row: Encodable {
    /// What was measured.
    let piece: String
    let unit: String
    let value: Double
    let limit: Double
    /// Further figures.
    let note: String
}

/// `bench-device`: measurements of the library for apps, for `ops/bench/device`.
@main
struct BenchDevice: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench-device", abstract: "Measures the library for apps.",
        discussion: "Example: bench-device reads --packages 60 --removed 100",
        subcommands: [ReadsCommand.self, CatalogCommand.self])
}
