import Foundation
import TestSupport
import Testing

/// Coordinator and workers that have no folder in common, only a bucket.
@Suite(.serialized, .enabled(if: S3Server.obstacle == nil))
struct S3Tests {
    @Test(.timeLimit(.minutes(15)))
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

    @Test(.timeLimit(.minutes(15)))
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
