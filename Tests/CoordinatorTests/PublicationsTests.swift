import Catalog
import Foundation
import Logging
import Scheduling
import Shards
import Testing
import Wire

@testable import Coordinator

/// Merged packages that wait at the same time.
struct PublicationsTests {
    let fixture: Fixture
    let blobs: FolderBlobStore
    let catalog: Catalog
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init() throws {
        fixture = try Fixture()
        blobs = try FolderBlobStore(fixture.options.blobs, create: true)
        catalog = try Catalog(fixture.options.catalog, create: true)
    }

    /// A package whose file holds `text`, as a blob unless it is to be missing.
    private func waiting(_ number: Int, _ text: String, isMissing: Bool = false) async throws -> Publications.Waiting {
        let bytes = Array(text.utf8)
        let digest = Digest(of: bytes)
        if !isMissing {
            let temporary = try blobs.temporaryURL()
            try Data(bytes).write(to: temporary)
            try await blobs.put(temporary, digest: digest)
        }
        let merged = MergedPackage(
            digest: try #require(ContentDigest(digest.bytes)), size: UInt64(bytes.count), tiles: 21,
            tilesHash: "D41D8CD98F00B204E9800998ECF8427E")
        let spec = try JobSpec(try Fixture.submission(id: "P\(number)"))
        return Publications.Waiting(job: 7, package: 0, merged: merged, spec: spec)
    }

    @Test func whatWaitsIsPublishedTogetherAndFailsAlone() async throws {
        let publications = Publications()
        for number in 0..<(Publications.most + 2) {
            publications.add(try await waiting(number, "package \(number)", isMissing: number == 3))
        }
        let publisher = CatalogPublisher(catalog: catalog)
        let first = await publications.publish(blobs, publisher, logger)
        #expect(first.count == Publications.most)
        let failed = first.filter { if case .packageTrouble = $0 { true } else { false } }
        guard case .packageTrouble(_, _, let trouble, let mayHeal)? = failed.first, failed.count == 1 else {
            Issue.record("\(failed)")
            return
        }
        #expect(trouble.cause == "blob-missing" && !mayHeal)
        #expect(try catalog.packages().count == Publications.most - 1)
        #expect(await publications.publish(blobs, publisher, logger).count == 2)
        #expect(await publications.publish(blobs, publisher, logger).isEmpty, "others took them along")
        let entries = try catalog.packages()
        #expect(entries.count == Publications.most + 1 && entries.allSatisfy { $0.version == 1 })
        #expect(try catalog.verify().isSound)
    }

    @Test func oneThatTheCatalogRefusesLeavesTheOthers() async throws {
        let publications = Publications()
        let good = try await waiting(1, "good")
        let wrong = try await waiting(2, "wrong")
        // Announced with another length than it has.
        let merged = MergedPackage(
            digest: wrong.merged.digest, size: 99, tiles: 21, tilesHash: wrong.merged.tilesHash)
        publications.add(Publications.Waiting(job: 7, package: 0, merged: merged, spec: wrong.spec))
        publications.add(good)
        let events = await publications.publish(blobs, CatalogPublisher(catalog: catalog), logger)
        guard case .packageTrouble(_, _, let trouble, false) = events[0],
            case .published(7, 0, 1, let path, false) = events[1]
        else {
            Issue.record("\(events)")
            return
        }
        #expect(trouble.cause == "blob-missing" && path == "packages/1/P1.mbtiles")
        #expect(try catalog.packages().map(\.id) == ["P1"])
    }
}
