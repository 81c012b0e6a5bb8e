import Catalog
import CatalogFormat
import CatalogTransfer
import CommandSupport
import Errors
import Foundation
import ObjectStore
import Packages
import S3
import Shards
import Synchronization
import TestSupport
import Testing

@testable import Commands

/// Publishing to the S3 server of the tests.
@Suite(.serialized, .enabled(if: S3Server.obstacle == nil, "\(S3Server.obstacle ?? "")"))
struct CatalogPushTests {
    private func bucket(_ prefix: String) async throws -> S3Bucket {
        try S3Bucket(
            try S3Location("s3://\(S3Server.bucket)/\(prefix)"),
            at: try S3Endpoint(try await S3Server.shared().endpoint),
            credentials: try S3Credentials(environment: S3Server.environment))
    }

    private func push(_ shop: Shop, _ bucket: S3Bucket) throws -> CatalogPush {
        let folder = shop.file("catalog")
        return CatalogPush(source: try CatalogSource(folder.path), folder: folder, target: BucketTarget(bucket: bucket))
    }

    private func names(_ bucket: S3Bucket) async throws -> Set<String> {
        Set(try await bucket.list().objects.map(\.name))
    }

    @Test func whatLiesInTheBucketIsTheCatalog() async throws {
        let shop = try Shop()
        for version in 1...2 { try shop.publish("EE", UInt64(version)) }
        try shop.publish("EE", 7, edition: try CatalogEdition(group: "terrain"))
        let bucket = try await bucket(UUID().uuidString)

        let told = try await push(shop, bucket).run(dryRun: true, prune: false) { _ in }
        #expect(told.sent.count == 8 && told.skipped == 0)
        #expect(try await names(bucket).isEmpty)

        let done = try await push(shop, bucket).run(dryRun: false, prune: false) { _ in }
        #expect(done.sent == told.sent && done.bytes == told.bytes)
        #expect(done.sent.suffix(2) == ["catalog.json.sig", "catalog.json"])
        #expect(try await names(bucket) == Set(done.sent))
        for path in done.sent {
            #expect(try await bucket.read(path) == Array(try Data(contentsOf: shop.file("catalog/\(path)"))), "\(path)")
        }

        // Nothing new: nothing is sent, and what others put there stays.
        try await bucket.put("README", bytes: [1])
        let again = try await push(shop, bucket).run(dryRun: false, prune: true) { _ in }
        #expect(again.skipped == 4 && again.sent.isEmpty && again.removed.isEmpty)

        try shop.publish("EE", 3)
        _ = try shop.catalog.prune(keep: 1, dryRun: false)
        let next = try await push(shop, bucket).run(dryRun: false, prune: true) { _ in }
        #expect(next.removed == ["packages/1/EE.mbtiles", "packages/2/EE.mbtiles", "patches/EE/1-2.mbtiles"])
        #expect(
            next.sent.filter { $0.hasSuffix(".mbtiles") } == [
                "packages/3/EE.mbtiles", "patches/EE/1-3.mbtiles", "patches/EE/2-3.mbtiles",
            ])
        #expect(try await names(bucket).isSuperset(of: ["README", "groups/terrain/packages/1/EE.mbtiles"]))
        let left = try await names(bucket)
        #expect(!left.contains("push.json") && !left.contains("packages/1/EE.mbtiles"))
    }

    @Test func tilePacksAndStylesAreOfTheCatalogThereToo() async throws {
        let shop = try Shop()
        let first = try shop.publishCut("EE", 1)
        #expect(try shop.publishCut("LV", 1).packs == first.packs)
        let style = try shop.other("zip", Array("a style".utf8))
        try shop.catalog.publish(
            style: "streets", name: nil, file: style.url, digest: style.digest, size: style.size)
        let bucket = try await bucket(UUID().uuidString)
        let done = try await push(shop, bucket).run(dryRun: false, prune: false) { _ in }
        #expect(done.sent.filter { $0.hasPrefix("packs/") } == first.packs.map(\.path).sorted(), "each once")
        #expect(done.sent.contains("styles/1/streets.zip") && done.sent.contains("regions/LV.json"))
        #expect(try await names(bucket) == Set(done.sent))
        let again = try await push(shop, bucket).run(dryRun: false, prune: true) { _ in }
        #expect(again.skipped == 3 + first.packs.count && again.removed.isEmpty)
        let next = try shop.publishCut("EE", 2)
        _ = try shop.publishCut("LV", 2)
        let pruned = try await push(shop, bucket).run(dryRun: false, prune: true) { _ in }
        let gone = Set(first.packs.map(\.path)).subtracting(next.packs.map(\.path))
        #expect(!gone.isEmpty && Set(pruned.removed) == gone)
        #expect(try await bucket.read("regions/EE.json") == Array(try next.encoded()))
    }

    @Test func anInterruptedPushIsTakenUpAndShowsNothingMeanwhile() async throws {
        let shop = try Shop()
        for id in ["AA", "BB", "CC"] { try shop.publish(id, 1) }
        // A file that is not what the lists say stops the push half-way.
        let file = shop.file("catalog/packages/1/CC.mbtiles")
        let whole = try Data(contentsOf: file)
        try shop.flip("packages/1/CC.mbtiles")
        let bucket = try await bucket(UUID().uuidString)
        let sent = Mutex<[String]>([])
        await #expect(throws: CatalogTransferError.self) {
            try await push(shop, bucket).run(dryRun: false, prune: false) { step in
                sent.withLock { $0.append(step.line) }
            }
        }
        #expect(sent.withLock { $0.count } == 3)
        #expect(try await names(bucket) == ["packages/1/AA.mbtiles", "packages/1/BB.mbtiles", "push.json"])
        try whole.write(to: file)
        let done = try await push(shop, bucket).run(dryRun: false, prune: false) { _ in }
        #expect(
            done.skipped == 2
                && done.sent == ["packages/1/CC.mbtiles", "packages.json", "catalog.json.sig", "catalog.json"])
        #expect(try await names(bucket).count == 6)
    }

    @Test func anotherCatalogIsNotOverwritten() async throws {
        let (one, other) = (try Shop(), try Shop())
        try one.publish("EE", 1)
        try other.publish("EE", 2)
        let bucket = try await bucket(UUID().uuidString)
        _ = try await push(one, bucket).run(dryRun: false, prune: false) { _ in }
        let before = try await bucket.read("catalog.json")
        let error = await #expect(throws: CatalogTransferError.self) {
            try await push(other, bucket).run(dryRun: false, prune: true) { _ in }
        }
        #expect(error?.exitStatus == .badData && error?.message.contains("packages/1/EE.mbtiles") == true)
        #expect(try await bucket.read("catalog.json") == before)
    }
}
