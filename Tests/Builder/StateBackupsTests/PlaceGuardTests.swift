import Errors
import Foundation
import Testing

@testable import StateBackups

/// Who may use a place.
struct PlaceGuardTests {
    private static func claim(_ epoch: UInt32, run: UInt64 = 1, lineage: UInt64 = 5) -> PlaceClaim {
        PlaceClaim(epoch: epoch, run: run, lineage: lineage)
    }

    private static func index(_ file: PageFile, epoch: UInt32) async throws {
        try await BackupWriter(file.place, claim: claim(epoch)).write(try file.copy(), now: 1_000)
    }

    private static func code(_ body: () async throws -> Void) async -> BackupErrorCode? {
        do { try await body() } catch { return (error as? BackupError)?.code }
        return nil
    }

    @Test func aHigherEpochReplacesALowerOne() async throws {
        let file = try PageFile(pages: 3)
        let old = PlaceGuard(file.place, own: Self.claim(3))
        try await old.confirm()
        try await Self.index(file, epoch: 3)
        let new = PlaceGuard(file.place, own: Self.claim(1_004))
        try await new.confirm()
        #expect(await Self.code { try await old.confirm() } == .replaced)
        #expect(
            await Self.code { try await old.confirm(within: .seconds(3_600)) } == nil, "an answer counts for a while")
        try await new.confirm()
        let again = PlaceGuard(file.place, own: Self.claim(4))
        #expect(await Self.code { try await again.confirm() } == .replaced, "also after a restart")
        let claims = Set(try await file.names(.claims))
        #expect(claims == ["\(Self.claim(3))", "\(Self.claim(1_004))"], "it announces nothing then")
        #expect(await new.hasPredecessor, "the old one may still run")
        #expect(await !old.hasPredecessor)
        let next = PlaceGuard(file.place, own: Self.claim(1_005))
        try await next.confirm()
        #expect(await next.hasPredecessor, "also when its successor was started again soon")
    }

    @Test func ofTwoRunsWithOneEpochOneGoesOn() async throws {
        let file = try PageFile(pages: 3)
        try await Self.index(file, epoch: 3)
        let runs = [1, 2].map { PlaceGuard(file.place, own: Self.claim(1_004, run: $0)) }
        try await runs[0].confirm()
        try await runs[1].confirm()
        #expect(await Self.code { try await runs[0].confirm() } == .replaced)
        try await runs[1].confirm()
    }

    @Test func aRestartWithTheSameStateGoesOn() async throws {
        let file = try PageFile(pages: 3)
        try await PlaceGuard(file.place, own: Self.claim(3)).confirm()
        try await Self.index(file, epoch: 3)
        try await PlaceGuard(file.place, own: Self.claim(4, run: 9)).confirm()
        #expect(try await file.names(.claims) == ["\(Self.claim(4, run: 9))"])
    }

    @Test func anotherStateIsRefusedWhereABackupWouldBeLost() async throws {
        let file = try PageFile(pages: 3)
        let other = PlaceGuard(file.place, own: Self.claim(1, lineage: 8))
        try await PlaceGuard(file.place, own: Self.claim(3)).confirm()
        try await other.confirm()
        #expect(try await file.names(.claims) == ["\(Self.claim(1, lineage: 8))"], "the first one left no backup")
        try await Self.index(file, epoch: 1)
        #expect(await Self.code { try await PlaceGuard(file.place, own: Self.claim(9)).confirm() } == .foreign)
    }

    @Test func backupsWithoutAClaimCountToo() async throws {
        let file = try PageFile(pages: 3)
        try await Self.index(file, epoch: 30)
        #expect(await Self.code { try await PlaceGuard(file.place, own: Self.claim(29)).confirm() } == .replaced)
        try await PlaceGuard(file.place, own: Self.claim(31)).confirm()
    }

    @Test func aFolderThatIsNotThereIsSaidToBeMissing() async throws {
        let file = try PageFile(pages: 3)
        try FileManager.default.removeItem(at: file.place.folder)
        #expect(await Self.code { try await PlaceGuard(file.place, own: Self.claim(1)).confirm() } == .badPlace)
        #expect(await Self.code { _ = try await BackupReader(file.place).newest() } == .badPlace)
    }
}
