import Foundation
import TestSupport
import Testing

/// Coordinator and workers that have no folder in common, only a bucket.
@Suite(.serialized, .enabled(if: S3Server.obstacle == nil, "\(S3Server.obstacle ?? "")"))
struct S3Tests {
    @Test(.timeLimit(.programs))
    func aPackageByWayOfABucketHasTheBytesOfOneByWayOfAFolder() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let area = ["LI", "--tileset", origin.tileset, "--zoom", "0-12"]
        let shared = try await Cluster(workers: 1, in: scratch)
        let expected = try await shared.build(area)
        try await shared.stop()

        let server = try await S3Server.shared()
        let location = "s3://\(S3Server.bucket)/\(UUID().uuidString)"
        let cluster = try await Cluster(
            workers: 0, blobs: ["--blobs", location, "--s3-endpoint", server.endpoint],
            environment: S3Server.environment, in: scratch)
        for number in 1...2 {
            try cluster.startWorker(["--blob-cache", scratch.url("cache-\(number)").path])
        }
        let job = try await cluster.build(area)
        #expect(job.stored == expected.stored && job.failed == 0)
        #expect(try #require(job.packages.first?.sha256) == expected.packages.first?.sha256)
        let verified = try await Program.run(["verify", cluster.catalog.path], in: scratch)
        #expect(verified.status == 0, "\(verified.errors)")
        #expect(!FileManager.default.fileExists(atPath: cluster.data.appending(path: "blobs").path))
        try await cluster.stop()
        for said in (cluster.workers + [cluster.coordinator].compactMap { $0 }).map(\.said) {
            #expect(!said.contains("testing"), "the secret is in no log")
        }
        for number in 1...2 {
            let left = try FileManager.default.contentsOfDirectory(atPath: scratch.url("cache-\(number)").path)
            #expect(left.allSatisfy { $0.hasPrefix(".") }, "local copies go with their process: \(left)")
        }
    }

    @Test(.timeLimit(.programs))
    func anArchiveInABucketIsASource() async throws {
        let scratch = try Scratch()
        let origin = try SyntheticOrigin(in: scratch)
        defer { origin.stop() }
        let cluster = try await Cluster(workers: 1, in: scratch)
        _ = try await cluster.build(["EE", "--zoom", "0-9", "--format", "pmtiles", "--tileset", origin.tileset])
        try await cluster.stop()
        let server = try await S3Server.shared()
        let place = "s3://\(S3Server.bucket)/\(UUID().uuidString)"
        let environment = S3Server.environment.merging(["AWS_ENDPOINT_URL": server.endpoint]) { $1 }
        let pushed = try await Program.run(
            ["catalog", "push", cluster.catalog.path, place, "--s3-endpoint", server.endpoint],
            environment: environment, in: scratch)
        #expect(pushed.status == 0, "\(pushed.errors)")

        let path = "packages/1/EE.pmtiles"
        func build(_ tileset: String, _ file: URL, _ changes: [String: String] = [:]) async throws -> Program.Outcome {
            try await Program.run(
                ["build", "EE", "--zoom", "0-8", "--tileset", tileset, "-o", file.path],
                environment: environment.merging(changes) { $1 }, in: scratch)
        }
        let (here, there) = (scratch.url("here.mbtiles"), scratch.url("there.mbtiles"))
        let local = try await build("pmtiles:\(cluster.catalog.appending(path: path).path)", here)
        #expect(local.status == 0, "\(local.errors)")
        let remote = try await build("\(place)/\(path)", there)
        #expect(remote.status == 0, "\(remote.errors)")
        #expect(try Data(contentsOf: here) == Data(contentsOf: there))

        // Several archives of the bucket are one source; those that are not there have no tiles.
        let list = scratch.url("archives.yaml")
        let archives = [
            "{url: '\(place)/\(path)', zoom: 0-5}", "{url: 'pmtiles:\(place)/\(path)', zoom: 6-7}",
            "{url: '\(place)/none-{x}-{y}.pmtiles', zoom: 8, cell_zoom: 3}",
        ]
        try Data(("archives:\n" + archives.map { "  - \($0)\n" }.joined()).utf8).write(to: list)
        let several = try await build(list.path, scratch.url("several.mbtiles"))
        #expect(several.status == 0, "\(several.errors)")
        let seven = try await Program.run(
            ["build", "EE", "--zoom", "0-7", "--tileset", "\(place)/\(path)", "-o", scratch.url("seven.mbtiles").path],
            environment: environment, in: scratch)
        #expect(seven.status == 0, "\(seven.errors)")
        var hashes: Set<Substring> = []
        for name in ["several", "seven"] {
            let said = try await Program.run(["inspect", scratch.url("\(name).mbtiles").path], in: scratch)
            hashes.formUnion(
                said.output.split(separator: "\n").filter { $0.hasPrefix("hash") || $0.hasPrefix("tiles") })
        }
        #expect(hashes.count == 2, "\(hashes)")

        let wrong = try await build(
            "pmtiles:\(place)/\(path)", scratch.url("x.mbtiles"), ["AWS_SECRET_ACCESS_KEY": "hidden"])
        #expect(wrong.status != 0 && wrong.errors.contains("403"), "\(wrong.errors)")
        #expect(!wrong.errors.contains("hidden"))
        let none = try await build("\(place)/\(path)", scratch.url("x.mbtiles"), ["AWS_ACCESS_KEY_ID": ""])
        #expect(none.status != 0 && none.errors.contains("AWS_ACCESS_KEY_ID"), "\(none.errors)")
    }

    @Test(.timeLimit(.programs))
    func whatIsWrongWithABucketIsSaidInOneLine() async throws {
        let scratch = try Scratch()
        let endpoint = try await S3Server.shared().endpoint
        func worker(
            _ location: String, _ arguments: [String] = [], _ environment: [String: String] = [:]
        ) async throws -> Program.Outcome {
            let given = S3Server.environment.merging(environment) { $1 }
            return try await Program.run(
                ["worker", "--blobs", location, "--blob-cache", scratch.url("cache").path] + arguments,
                environment: given, in: scratch)
        }
        let place = "s3://\(S3Server.bucket)/x"
        let secret = try await worker(place, ["--s3-endpoint", endpoint], ["AWS_SECRET_ACCESS_KEY": "hidden"])
        #expect(secret.status == 77 && secret.errors.contains("AWS_SECRET_ACCESS_KEY"), "\(secret.errors)")
        #expect(secret.errors.contains(endpoint) && !secret.errors.contains("hidden"))
        let bucket = try await worker("s3://no-such-bucket/x", ["--s3-endpoint", endpoint])
        #expect(bucket.status == 66 && bucket.errors.contains("no-such-bucket"), "\(bucket.errors)")
        let open = try await worker(place, ["--s3-endpoint", "http://192.0.2.1:9"])
        #expect(open.status == 77 && open.errors.contains("--insecure-s3"), "\(open.errors)")
        let none = try await worker(place, ["--s3-endpoint", endpoint], ["AWS_ACCESS_KEY_ID": ""])
        #expect(none.status == 78 && none.errors.contains("AWS_ACCESS_KEY_ID"), "\(none.errors)")
        let useless = try await Program.run(["worker", "--blobs", "x", "--s3-region", "r"], in: scratch)
        #expect(useless.status == 64)
    }
}
