import Foundation
import Testing

/// What may take the place of a package in the catalog, through real processes.
struct ReplacementTests {
    /// The area of Liechtenstein under the id of Monaco is treated as a mistake, whichever command makes it.
    @Test(.timeLimit(.programs))
    func aSlipOfTheIDReplacesNothing() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let tiles = ["--tileset", origin.tileset, "--zoom", "0-10"]
        let built = try await cluster.build(["LI"] + tiles)
        let elsewhere = "bbox(1.4,42.4,1.8,42.7)"
        let list = scratch.url("list.yaml")
        try Data("- {id: LI, bbox: \"1.4,42.4,1.8,42.7\"}\n".utf8).write(to: list)
        let schedule = ["schedule", "add", "s", "--every", "daily 01:00"]
        for start in [["submit"], ["submit", "--dry-run"], schedule] {
            for area in [[elsewhere, "--id", "LI"], ["--packages", list.path]] {
                let refused = try await cluster.run(start + area + tiles)
                #expect(refused.status == 65, "\(start + area): \(refused.errors)")
                #expect(refused.errors.contains("is another area"), "\(refused.errors)")
                #expect(refused.errors.contains("--replace-area"), "\(refused.errors)")
            }
        }
        #expect(try await cluster.run(["jobs", "--quiet"]).output == "1\n")
        // Growing and refining are no slips.
        #expect(try await cluster.run(["submit", "--dry-run", "EU", "--id", "LI"] + tiles).status != 65)
        #expect(
            try await cluster.run(["submit", "--dry-run", "LI", "--tileset", origin.tileset, "--zoom", "0-12"]).status
                == 0)

        // A package that was made of another area elsewhere.
        _ = try await cluster.build([elsewhere, "--id", "andorra"] + tiles)
        let package = cluster.catalog.appending(path: "packages/1/andorra.mbtiles").path
        let alien = ["catalog", "import", cluster.catalog.path, package, "--id", "LI"]
        let refused = try await Program.run(alien, in: scratch)
        #expect(refused.status == 65 && refused.errors.contains("is another area"), "\(refused.errors)")
        let meant = try await Program.run(alien + ["--replace-area"], in: scratch)
        #expect(meant.status == 0, "\(meant.errors)")
        let back = try await cluster.build(["LI", "--replace-area"] + tiles)
        #expect(back.packages.first?.version == 3 && back.packages.first?.sha256 == built.packages.first?.sha256)
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func aPackageThatShrinksIsPublishedOnlyWhenThatIsAllowed() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        _ = try await cluster.build(["LI", "--tileset", origin.tileset, "--zoom", "0-13"])
        let less = ["LI", "--tileset", origin.tileset, "--zoom", "0-7"]
        let failed = try await cluster.run(["submit", "--wait", "--progress", "none"] + less)
        #expect(failed.status == 65, "\(failed.errors)")
        #expect(failed.errors.contains("--allow-shrink"), "it is warned: \(failed.errors)")
        let report = try await cluster.run(["status", "2"]).output
        #expect(report.contains("package-shrunk") && report.contains("less than half"), "\(report)")
        #expect(try await cluster.run(["retry", "2", "--allow-shrink"]).status == 0)
        let outcome = try await cluster.run(["watch", "2", "--progress", "none", "--json"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        // Who narrows the zooms knowingly is not asked twice.
        _ = try await cluster.build(["LI", "--tileset", origin.tileset, "--zoom", "0-14"])
        let narrowed = try await cluster.build(less + ["--replace-area"])
        #expect(narrowed.packages.first?.version == 4)
        try await cluster.stop()
    }

    /// Lists, times and the log of many jobs, as the command line shows them.
    @Test(.timeLimit(.programs))
    func jobsAreListedWithTimesFiltersAndPagesAndTheLogGivesAsManyLinesAsAsked() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        for country in ["LI", "MC", "SM"] {
            _ = try await cluster.build([country, "--tileset", origin.tileset, "--zoom", "0-8"])
        }
        let table = try await cluster.run(["jobs"]).output
        #expect(table.contains("SUBMITTED") && table.contains("STARTED") && table.contains("ENDED"), "\(table)")
        let json = try await cluster.run(["jobs", "--json"]).output
        let jobs = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]])
        for job in jobs {
            let times = ["submitted", "started", "ended"].compactMap { job[$0] as? String }
            #expect(times.count == 3 && times == times.sorted() && times.allSatisfy { $0.hasSuffix("Z") }, "\(job)")
        }
        func numbers(_ arguments: [String]) async throws -> [String] {
            let outcome = try await cluster.run(["jobs", "--quiet"] + arguments)
            #expect(outcome.status == 0, "\(outcome.errors)")
            return outcome.output.split(separator: "\n").map(String.init)
        }
        #expect(try await numbers([]) == ["3", "2", "1"])
        #expect(try await numbers(["--limit", "2"]) == ["3", "2"])
        #expect(try await numbers(["--before", "3", "--limit", "1"]) == ["2"])
        #expect(try await numbers(["--label", "monaco"]) == ["2"])
        #expect(try await numbers(["--state", "failed,cancelled"]).isEmpty)
        #expect(try await numbers(["--state", "done", "--since", "1h"]) == ["3", "2", "1"])
        #expect(try await numbers(["--since", "2099-01-01"]).isEmpty)
        for wrong in [["--state", "finished"], ["--since", "yesterday"], ["--limit", "100001"], ["--before", "0"]] {
            #expect(try await cluster.run(["jobs"] + wrong).status == 64, "\(wrong)")
        }

        let log = try await cluster.run(["events", "--limit", "100000"]).output.split(separator: "\n")
        #expect(log.count { $0.contains("submitted") } == 3)
        #expect(!log.contains { $0.contains("in 0 batches") }, "\(log)")
        for count in [1, 2, 8, log.count, log.count + 5] {
            let lines = try await cluster.run(["events", "--limit", "\(count)"]).output.split(separator: "\n")
            #expect(lines == log.suffix(count), "\(count) of \(log.count)")
        }
        try await cluster.stop()
    }
}
