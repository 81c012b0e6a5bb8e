import Errors
import Foundation
import ObjectStore
import S3
import TestSupport
import Testing

@testable import StateBackups

/// Backups in a real bucket.
@Suite(.enabled(if: S3Server.obstacle == nil, "\(S3Server.obstacle ?? "")"), .timeLimit(.minutes(15)))
struct BucketPlaceTests {
    @Test func aBucketHoldsBackupsAsAFolderDoes() async throws {
        let server = try await S3Server.shared()
        let location = try S3Location("s3://\(S3Server.bucket)/\(UUID().uuidString)")
        let bucket = try S3Bucket(
            location, at: try S3Endpoint(server.endpoint),
            credentials: try S3Credentials(environment: S3Server.environment), attempts: 3)
        let place = BucketBackupPlace(bucket)
        let file = try PageFile(pages: 9_000)
        let claim = PlaceClaim(epoch: 3, run: 1, lineage: 5)
        let old = PlaceGuard(place, own: claim)
        try await old.confirm()
        let writer = BackupWriter(place, claim: claim)
        try await writer.write(try file.copy(), now: 1_000)
        file.change([3, 8_999], version: 1)
        try await writer.write(try file.copy(), now: 1_060)
        try await bucket.put("state-backups/segments/0000000001-" + String(repeating: "c", count: 64), bytes: [1])
        try await bucket.put("ab/other", bytes: [1])
        try await writer.thin(now: 1_060)
        let reader = BackupReader(place)
        let indexes = try await reader.indexes()
        #expect(indexes.map(\.segments.count) == [2, 4])
        #expect(try await place.names(of: .segments).count == 4)
        let copy = file.folder.appending(path: "restored")
        try await reader.restore(try #require(indexes.last), to: copy)
        #expect(Array(try Data(contentsOf: copy)) == file.bytes)
        try await PlaceGuard(place, own: PlaceClaim(epoch: 1_004, run: 1, lineage: 5)).confirm()
        #expect(try await reader.highestEpoch() == 1_004)
        #expect(await #expect(throws: BackupError.self) { try await old.confirm() }?.code == .replaced)
        #expect(try await bucket.read("ab/other") == [1])
    }
}
