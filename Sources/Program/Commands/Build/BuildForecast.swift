internal import ClusterClient
internal import CommandSupport
import Foundation
import Packages
internal import Wire

/// The estimated result of a build, from its masks and a few sampled tiles.
struct BuildForecast: Encodable {
    struct Job: Encodable {
        let label: String
        let tiles: UInt64
        let estimate: Estimate
    }

    /// The files that would be written.
    let files: [String]
    let jobs: [Job]

    /// Prints it.
    ///
    /// A few tiles are fetched, once, and nothing is built.
    ///
    /// - Parameter saysDepth: Whether a source that goes beyond the usual depth is named.
    /// - Throws: ``CLIError`` when no sampled tile could be fetched, with the cause.
    static func show(_ plan: BuildPlan, workers: Int, saysDepth: Bool, json: Bool) async throws {
        var jobs: [Job] = []
        var warnings: [String] = []
        let named = plan.files.map(\.format)
        let wanted = Set(named + [plan.isShared ? .mbtiles : .main(of: named.map(\.rawValue))])
        for draft in plan.drafts {
            let estimate = try await Estimate.sampled(
                draft, samples: 24, workers: workers,
                formats: PackageForecast.formats.filter(wanted.contains))
            jobs.append(Job(label: draft.label, tiles: estimate.tiles, estimate: estimate))
            let depth = saysDepth ? DeepZooms.remark(draft, estimate) : nil
            warnings += draft.warnings + [depth, estimate.failureText].compactMap(\.self)
        }
        let forecast = BuildForecast(files: plan.files.map(\.name), jobs: jobs)
        if json {
            Console.result(try JSONText.pretty(forecast))
        } else {
            for job in jobs {
                Console.result(job.label)
                job.estimate.lines.forEach(Console.result)
            }
            let parts = jobs.contains { $0.estimate.parts?.packages ?? 0 > 0 } ? " in parts" : ""
            Console.note("would write \(forecast.files.joined(separator: ", "))\(parts); nothing was built")
        }
        warnings.forEach(Console.warning)
    }
}
