import ArgumentParser
internal import CommandSupport
import Foundation
import OfflineMaps
import Tiles

/// `packhorse-bench device`: measures the library for apps, each row beside a raw SQLite look-up of the same run.
///
/// Uses the public API alone. Every row is a ratio. Ends with 1 when a threshold is missed. `make bench-device` runs it
/// and adds the rows that need other programs and a web server.
struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "Measure the library for apps against raw SQLite.")

    @Option(help: "Number of packages.") var packages = 600
    @Option(help: "Reads of each measurement.") var reads = 20_000
    @Option(help: "Rounds of reads; medians are used.") var rounds = 7
    @Option(help: "Megabytes that are removed while readers read.") var removed = 2_048
    @Option(help: "Updates that are installed while readers read.") var updates = 100
    @Flag(help: "Print JSON.") var json = false

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
        rows += try await ChangeRows(maps: maps, reads: reads, updates: updates, removed: removed).rows()
        if json {
            Console.result(try JSONText.pretty(rows))
        } else {
            PieceRow.table(rows).forEach(Console.result)
        }
        guard rows.allSatisfy(\.met) else { throw ExitCode(1) }
    }
}
