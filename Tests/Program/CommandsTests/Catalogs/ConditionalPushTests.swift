import Catalog
import CatalogFormat
import CatalogTransfer
import Digests
import Errors
import Files
import Foundation
import ObjectStore
import S3
import Synchronization
import TestSupport
import Testing

@testable import Commands

/// Pushes to buckets that compare before they replace, and to others; and another publisher at the same time.
struct ConditionalPushTests {
    private func push(_ folder: URL, _ bucket: ScriptedBucket, replaces: Bool = false, prune: Bool = false) async throws
        -> CatalogPush.Report
    {
        let place = try S3Bucket(
            try S3Location("s3://\(ScriptedBucket.name)"), at: try S3Endpoint(bucket.url),
            credentials: try S3Credentials(environment: S3Server.environment))
        return try await CatalogPush(
            source: try CatalogSource(folder.path), folder: folder, target: BucketTarget(bucket: place),
            replaces: replaces
        ).run(dryRun: false, prune: prune) { _ in }
    }

    private func refusal(_ folder: URL, _ bucket: ScriptedBucket) async -> CatalogTransferErrorCode? {
        await #expect(throws: CatalogTransferError.self) { _ = try await push(folder, bucket) }?.code
    }

    private func bytes(_ shop: Shop, _ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: shop.file("catalog/\(path)")))
    }

    /// Whether `catalog.json` is proven by the signature, names the lists that are there, and all their files.
    private func isWhole(_ bucket: ScriptedBucket) throws -> Bool {
        let objects = bucket.objects
        let document = try #require(objects["catalog.json"])
        let index = try CatalogIndex(decoding: document)
        let signature = try CatalogSignature(decoding: try #require(objects["catalog.json.sig"]))
        let lists = index.editions.allSatisfy { edition in
            objects[edition.list.url].map { Digest(of: $0).hex == edition.list.sha256 } ?? false
        }
        let files = index.packages.flatMap(\.versions).flatMap(\.files).allSatisfy { file in
            objects[file.url].map { Digest(of: $0).hex == file.sha256 } ?? false
        }
        return signature.names(document) && lists && files
    }

    @Test func aListIsPutOverTheOneThatWasRead() async throws {
        let shop = try Shop()
        try shop.publish("EE", 1)
        let bucket = try ScriptedBucket(.all)
        defer { bucket.stop() }
        let first = try await push(shop.file("catalog"), bucket)
        #expect(first.warnings.isEmpty && Set(bucket.objects.keys) == Set(first.sent), "nothing else is left")
        func conditions() -> [String: [String?]] {
            Dictionary(grouping: bucket.requests.filter { $0.method == "PUT" }, by: \.name).mapValues {
                $0.map(\.condition)
            }
        }
        for path in first.sent { #expect(conditions()[path] == ["*"], "\(path)") }
        let before = try bytes(shop, "packages.json")
        let count = bucket.requests.count
        let same = try await push(shop.file("catalog"), bucket)
        #expect(same.sent.isEmpty && same.skipped == 1)
        #expect(!bucket.requests[count...].contains { $0.method == "PUT" }, "nothing new writes nothing")
        try shop.publish("EE", 2)
        _ = try await push(shop.file("catalog"), bucket, prune: true)
        #expect(conditions()["packages.json"] == ["*", ScriptedBucket.tag(before)])
        #expect(try isWhole(bucket) && bucket.objects["catalog.json"] == bytes(shop, "catalog.json"))
    }

    @Test(arguments: [ScriptedBucket.Comparison.absence, .none, .refused])
    func aServerThatDoesNotCompareGetsOneWarning(_ comparison: ScriptedBucket.Comparison) async throws {
        let shop = try Shop()
        let bucket = try ScriptedBucket(comparison)
        defer { bucket.stop() }
        for version in 1...2 {
            try shop.publish("EE", UInt64(version))
            let done = try await push(shop.file("catalog"), bucket)
            #expect(done.warnings.count == 1 && done.warnings.first?.contains("If-Match") == true)
            #expect(try isWhole(bucket))
        }
        // The list of sent files has no condition.
        let real = bucket.requests.filter {
            $0.method == "PUT" && ![S3Bucket.checkName, "push.json"].contains($0.name)
        }
        #expect(real.allSatisfy { ($0.condition != nil) == (comparison == .absence && $0.earlier == 0) }, "\(real)")
        #expect(bucket.objects[S3Bucket.checkName] == nil)
    }

    /// The first answer to each put is lost: its repetition is refused, because the object is there already.
    @Test func anAnswerThatIsLostIsNoRefusal() async throws {
        let shop = try Shop()
        let bucket = try ScriptedBucket(.all) { request, _ in
            request.method == "PUT" && request.earlier % 2 == 0 && request.name != S3Bucket.checkName
                ? .unanswered : .answered
        }
        defer { bucket.stop() }
        for version in 1...2 {
            try shop.publish("EE", UInt64(version))
            let done = try await push(shop.file("catalog"), bucket)
            #expect(done.sent.last == "catalog.json")
            #expect(try isWhole(bucket) && bucket.objects["catalog.json"] == bytes(shop, "catalog.json"))
        }
    }

    /// Another publisher replaces the catalog while files are sent: no list is touched.
    @Test(arguments: [ScriptedBucket.Comparison.all, .none])
    func aCatalogThatWasReplacedSinceItWasReadStays(_ comparison: ScriptedBucket.Comparison) async throws {
        let shop = try Shop()
        try shop.publish("EE", 1)
        let bucket = try ScriptedBucket(comparison) { request, objects in
            if request.method == "PUT", request.name == "packages/2/EE.mbtiles" {
                objects["catalog.json"]?.append(UInt8(ascii: "\n"))
            }
            return .answered
        }
        defer { bucket.stop() }
        _ = try await push(shop.file("catalog"), bucket)
        let before = bucket.objects
        try shop.publish("EE", 2)
        #expect(await refusal(shop.file("catalog"), bucket) == .pushedByAnother)
        for name in ["packages.json", "catalog.json.sig"] { #expect(bucket.objects[name] == before[name], "\(name)") }
        #expect(bucket.objects["catalog.json"] == (before["catalog.json"] ?? []) + [UInt8(ascii: "\n")])
    }

    /// Another publisher comes between two lists of this one: the list that was replaced is taken back.
    @Test func aListIsTakenBackWhenAnotherPublisherWasFaster() async throws {
        let shop = try Shop()
        try shop.publish("EE", 1)
        let other = Mutex<[String: [UInt8]]>([:])
        let bucket = try ScriptedBucket(.all) { request, objects in
            guard request.method == "PUT", request.name == "catalog.json.sig", request.earlier == 1 else {
                return .answered
            }
            for (name, bytes) in other.withLock({ $0 }) { objects[name] = bytes }
            return .answered
        }
        defer { bucket.stop() }
        _ = try await push(shop.file("catalog"), bucket)
        let before = bucket.objects
        // A style changes no list of packages.
        let copy = shop.file("copy")
        try FileManager.default.copyItem(at: shop.file("catalog"), to: copy)
        let style = try shop.other("zip", Array("a style".utf8))
        try Catalog(copy, create: false, signingKey: shop.key).publish(
            style: "streets", name: nil, file: style.url, digest: style.digest, size: style.size)
        let theirs = try ["catalog.json", "catalog.json.sig"].map {
            ($0, Array(try Data(contentsOf: copy.appending(path: $0))))
        }
        other.withLock { $0 = Dictionary(theirs) { $1 } }
        try shop.publish("EE", 2)
        #expect(await refusal(shop.file("catalog"), bucket) == .pushedByAnother)
        #expect(bucket.objects["packages.json"] == before["packages.json"])
        #expect(try isWhole(bucket) && bucket.objects["catalog.json"] == theirs[0].1)
    }

    /// Four states of one catalog, all at once: one of them is there as a whole.
    @Test func ofManyPublishersOneIsThereAsAWhole() async throws {
        let shop = try Shop()
        try shop.publish("EE", 1)
        let bucket = try ScriptedBucket(.all)
        defer { bucket.stop() }
        _ = try await push(shop.file("catalog"), bucket)
        var copies: [URL] = []
        for number in 1...4 {
            try shop.publish("EE", UInt64(number + 1))
            if number % 2 == 0 {
                try shop.publish("LV", UInt64(number), edition: try CatalogEdition(group: "g\(number)"))
            }
            copies.append(shop.file("copy-\(number)"))
            try FileManager.default.copyItem(at: shop.file("catalog"), to: copies[number - 1])
        }
        let codes = await withTaskGroup(of: CatalogTransferErrorCode?.self) { group in
            for copy in copies {
                group.addTask {
                    do { _ = try await push(copy, bucket) } catch {
                        return (error as? CatalogTransferError)?.code ?? .io
                    }
                    return nil
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.contains(nil), "one of them comes through")
        #expect(codes.allSatisfy { [nil, .pushedByAnother, .otherCatalog].contains($0) }, "\(codes)")
        #expect(try isWhole(bucket))
        // Whoever is last has the newest state.
        _ = try await push(shop.file("catalog"), bucket)
        #expect(try isWhole(bucket) && bucket.objects["catalog.json"] == bytes(shop, "catalog.json"))
    }

    @Test func anotherCatalogIsTakenOverOnlyWhenThatIsSaid() async throws {
        let (one, other) = (try Shop(), try Shop())
        try one.publish("EE", 1)
        try other.publish("EE", 2)
        let bucket = try ScriptedBucket(.all)
        defer { bucket.stop() }
        _ = try await push(one.file("catalog"), bucket)
        #expect(await refusal(other.file("catalog"), bucket) == .otherCatalog)
        let done = try await push(other.file("catalog"), bucket, replaces: true)
        for path in done.sent { #expect(try bucket.objects[path] == bytes(other, path), "\(path)") }
        #expect(try isWhole(bucket) && done.sent.contains("packages/1/EE.mbtiles"))
    }

    /// A file that no list names: the same bytes are taken, others are never replaced.
    @Test func aFileThatIsThereIsCompared() async throws {
        let shop = try Shop()
        try shop.publish("EE", 1)
        let bucket = try ScriptedBucket(.all)
        defer { bucket.stop() }
        bucket.set("packages/1/EE.mbtiles", [1, 2, 3])
        #expect(await refusal(shop.file("catalog"), bucket) == .otherCatalog)
        #expect(bucket.objects["packages/1/EE.mbtiles"] == [1, 2, 3] && bucket.objects["catalog.json"] == nil)
        bucket.set("packages/1/EE.mbtiles", try bytes(shop, "packages/1/EE.mbtiles"))
        _ = try await push(shop.file("catalog"), bucket)
        #expect(try isWhole(bucket))
    }

    /// A push of many generations keeps the signature of what is there until `catalog.json` is replaced.
    @Test func theSignatureOfTheCatalogThereStays() async throws {
        let shop = try Shop()
        try shop.publish("EE", 1)
        let isBroken = Mutex(false)
        let bucket = try ScriptedBucket(.all) { request, _ in
            request.method == "PUT" && request.name == "catalog.json" && isBroken.withLock { $0 }
                ? .refused(403) : .answered
        }
        defer { bucket.stop() }
        _ = try await push(shop.file("catalog"), bucket)
        let before = try #require(bucket.objects["catalog.json"])
        for version in 2...4 { try shop.publish("EE", UInt64(version)) }
        isBroken.withLock { $0 = true }
        await #expect(throws: S3Error.self) { _ = try await push(shop.file("catalog"), bucket) }
        let signature = try CatalogSignature(decoding: try #require(bucket.objects["catalog.json.sig"]))
        #expect(throws: Never.self) { try signature.check(before, by: try shop.key.publicKey) }
        isBroken.withLock { $0 = false }
        let done = try await push(shop.file("catalog"), bucket)
        #expect(done.sent == ["catalog.json"], "the interrupted push is completed")
        #expect(try isWhole(bucket))
    }
}
