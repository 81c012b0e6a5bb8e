import Foundation
import Testing

/// Many packages, overlapping jobs: every tile is asked for once over the whole cluster.
@Suite(.serialized)
struct UnionTests {
    private static func requests(_ log: URL) throws -> [Substring: Int] {
        let lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
        return Dictionary(lines.map { ($0, 1) }, uniquingKeysWith: +)
    }

    @Test(.timeLimit(.programs))
    func overlappingJobsAskForEachTileOnceAndSmallPackagesComeEarly() async throws {
        let scratch = try Scratch()
        let log = scratch.url("requests")
        let origin = try await DemoOrigin(["--request-log", log.path, "--latency-ms", "8"], in: scratch)
        let cluster = try await Cluster(workers: 0, in: scratch)
        let zooms = ["--tileset", origin.tileset, "--zoom", "0-11"]
        // Both are there before the first worker, so that they run at the same time however slow the machine.
        let germany = try await cluster.submit(["DE", "--recursive"] + zooms)
        let alps = try await cluster.submit(["AT", "CH", "DE-BY"] + zooms)
        for _ in 0..<3 { try cluster.startWorker() }
        var jobs: [Job] = []
        for number in [germany, alps] {
            let ended = try await cluster.run(["watch", number, "--json", "--progress", "none"])
            try #require(ended.status == 0, "\(ended.errors)")
            jobs.append(try Job(json: ended.output))
        }
        #expect(jobs[0].packages.count == 17)
        #expect(jobs.allSatisfy { $0.failed == 0 && $0.settled == $0.tiles })

        let asked = try Self.requests(log)
        let twice = asked.filter { $1 > 1 }
        // A request under way is broken off when its share of the origin's budget ends, as on a machine too busy to renew it in time, and made
        // again; overlap itself costs none: half of these tiles are in both jobs or in several packages.
        #expect(
            twice.count * 100 <= asked.count,
            "\(twice.count) tiles were asked for again, such as \(twice.first?.key ?? "")")
        let reused = jobs.reduce(0) { $0 + $1.reused }
        #expect(reused > 500, "Bavaria and the world above it are in both jobs")
        #expect(asked.count == jobs.reduce(0) { $0 + $1.tiles } - reused)

        // Bremen does not wait for the rest of Germany. When exactly it is listed, on a machine under load after the last batch, is the pace
        // of the publication.
        let events = try await cluster.run(["events", "--job", germany, "--limit", "100000"]).output
        let lines = events.split(separator: "\n")
        let early = try #require(lines.firstIndex { $0.contains("package DE-HB published") })
        let whole = try #require(lines.firstIndex { $0.contains("package DE published") })
        #expect(early < whole)
        try await cluster.stop()

        // Each package has the bytes it has when it is built alone.
        let alone = try await Cluster(workers: 2, in: scratch)
        for id in ["DE-HB", "DE-BY", "AT", "DE"] {
            let expected = try await alone.build([id] + zooms).packages.first?.sha256
            let found = jobs.flatMap(\.packages).filter { $0.id == id }.map(\.sha256)
            #expect(!found.isEmpty && found.allSatisfy { $0 == expected }, "\(id)")
        }
        try await alone.stop()
    }

    @Test(.timeLimit(.programs))
    func aCatalogIsOneJob() async throws {
        let scratch = try Scratch()
        let log = scratch.url("requests")
        let origin = try await DemoOrigin(["--request-log", log.path], in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let shape = #"{"type":"Polygon","coordinates":[[[24.5,59.3],[25,59.3],[25,59.5],[24.5,59.3]]]}"#
        try Data(shape.utf8).write(to: scratch.url("park.geojson"))
        try Data("name,lat,lon\nA,59.43,24.75\n".utf8).write(to: scratch.url("huts.csv"))
        let catalog = scratch.url("packages.yaml")
        try Data(
            """
            # Estonia, and places in it
            - region: EE
            - id: tallinn
              bbox: 24.5,59.3,25.0,59.5
              names: {en: Tallinn, ru: Таллин}
            - geojson: park.geojson
            - points: huts.csv
              radius: 2km
            - LV
            """.utf8
        ).write(to: catalog)
        let arguments = ["--packages", catalog.path, "--tileset", origin.tileset, "--zoom", "0-10"]
        let dry = try await cluster.run(["submit"] + arguments + ["--dry-run"])
        #expect(dry.status == 0, "\(dry.errors)")
        #expect(dry.output.contains("5 packages of "), "\(dry.output)")
        #expect(dry.output.contains("saves"))
        let job = try await cluster.build(arguments)
        #expect(job.packages.map(\.id) == ["EE", "tallinn", "park", "huts", "LV"])
        #expect(job.packages.allSatisfy { $0.state == "published" })
        #expect(try Self.requests(log).values.allSatisfy { $0 == 1 })
        #expect(try Self.requests(log).count == job.tiles)
        let list = try String(contentsOf: cluster.catalog.appending(path: "packages.json"), encoding: .utf8)
        #expect(list.contains("Таллин"))
        try await cluster.stop()
    }

    @Test(.timeLimit(.programs))
    func aWrongCatalogNamesTheEntry() async throws {
        let scratch = try Scratch()
        let cases: [(text: String, status: Int32, says: String)] = [
            ("- region: EE\n- region: Qwertyland\n", 66, "'list.yaml' entry 2 ('Qwertyland')"),
            ("- region: EE\n  bbox: 1,2,3,4\n", 65, "entry 1 ('EE'): it has region and bbox"),
            ("- bbox: [1, 2, 3]\n", 65, "entry 1"),
            ("- {regoin: EE}\n", 65, "unknown key 'regoin'"),
            ("- geojson: none.json\n", 66, "none.json' does not exist"),
            ("- NO\n- {id: 'no', region: SE}\n", 65, "contains the package 'NO' twice"),
            ("region: EE\n", 65, "expected a list of packages"),
            ("- a\n b: {", 65, "'list.yaml' is not YAML"),
        ]
        for (text, status, says) in cases {
            try Data(text.utf8).write(to: scratch.url("list.yaml"))
            let outcome = try await Program.run(["mask", "--packages", scratch.url("list.yaml").path], in: scratch)
            #expect(outcome.status == status, "\(text): \(outcome.errors)")
            #expect(outcome.errors.contains(says), "\(text): \(outcome.errors)")
        }
    }

    /// The whole of Europe, every country and region, fits one submission.
    @Test(.timeLimit(.programs))
    func europeWithAllItsRegionsFitsAMessage() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 0, in: scratch)
        let dry = try await cluster.run(["submit", "EU", "--recursive", "--tileset", origin.tileset, "--dry-run"])
        #expect(dry.status == 0, "\(dry.errors)")
        #expect(dry.output.contains("192 packages of "), "\(dry.output)")
        try await cluster.stop()
    }
}
