import Foundation
import TestSupport
import Testing

@testable import OfflineMaps

/// Stores in which something lies that belongs to nothing: it never stops their opening, and never counts for a map.
@Suite(.timeLimit(.minutes(15)))
struct MapStoreLeftoverTests {
    private let site: StoreSite
    private let map: TestMap

    init() throws {
        site = try StoreSite()
        map = try TestMap((7, 72, 37), depth: 3)
        try site.add("EE")
        try site.publish()
    }

    /// The folder of the installed file after a process that ended.
    private func installed() async throws -> URL {
        let store = try await site.store()
        try await store.refreshCatalog()
        #expect(try await store.states { try await $0.install([.package("EE")]) } == [.done])
        let file = try #require(try await store.url(of: .package("EE")))
        await store.suspend()
        return file
    }

    private func write(_ file: URL) throws -> URL {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("x".utf8).write(to: file)
        return file
    }

    private func exists(_ file: URL) -> Bool { FileManager.default.fileExists(atPath: file.path) }

    @Test(.enabled(if: LockedFile.isPossible, "no file can be locked here"))
    func whatCannotBeRemovedIsNamedAndTriedAgain() async throws {
        let home = try await installed().deletingLastPathComponent()
        let (folder, versions) = (site.scratch.folder, home.deletingLastPathComponent())
        let strays = [
            folder.packs.appending(path: "demo/0/0/0/0123456789abcdef.mbtiles"),
            versions.appending(path: "8-11111111.new/x"),
            versions.appending(path: "7-22222222/\(InstalledFileDocument.name)"),
            folder.parts.appending(path: "x.tmp"),
            folder.parts.appending(path: "x.part.probe/style.json"),
            folder.root.appending(path: ".reserve.0123.tmp"),
        ]
        let locked = try strays.dropLast().map { LockedFile(try write($0)) }
        // A folder in the place of a file can be removed, but not as a file.
        _ = try write(strays[5].appending(path: "x"))
        let store = try await site.store()
        #expect(try await store.installed().map(\.item) == [.package("EE")])
        #expect(try await store.verify(deep: true).isEmpty)
        #expect(try await store.repair().isEmpty)
        #expect(try store.shows("EE 1", map))
        let left = await store.leftovers
        for stray in strays.dropLast() {
            #expect(exists(stray))
            #expect(left.contains { stray.path.hasSuffix($0.path) || stray.path.contains("\($0.path)/") }, "\(stray)")
        }
        #expect(left.count == 5 && !exists(strays[5]))
        #expect(try await store.states { try await $0.update([.package("EE")]) } == [.done])
        await store.suspend()

        for file in locked { file.unlock() }
        let again = try await site.store()
        #expect(await again.leftovers.isEmpty)
        await again.stop()
        for stray in strays { #expect(!exists(stray), "\(stray)") }
    }

    /// To open a pipe waits for a process that writes into it.
    @Test func whatIsNoFileIsNotRead() async throws {
        let home = try await installed().deletingLastPathComponent()
        let folder = site.scratch.folder
        let pipes = [
            folder.packs.appending(path: "demo/0/0/0/0123456789abcdef.mbtiles"),
            folder.parts.appending(path: String(repeating: "ab", count: 32) + ".part"),
            home.deletingLastPathComponent().appending(path: "7-22222222/\(InstalledFileDocument.name)"),
        ]
        for pipe in pipes {
            try FileManager.default.createDirectory(
                at: pipe.deletingLastPathComponent(), withIntermediateDirectories: true)
            #expect(mkfifo(pipe.path, 0o600) == 0)
        }
        let store = try await site.store()
        #expect(try store.shows("EE 1", map))
        await store.stop()
        #expect(!exists(pipes[0]) && !exists(pipes[1]))
    }

    /// A process can end between the removal of a damaged file's row and that of the file itself.
    @Test func aDamagedFileWithoutARowDoesNotComeBack() async throws {
        let file = try await installed()
        let home = file.deletingLastPathComponent()
        let kept = site.scratch.url.appending(path: "kept")
        try FileManager.default.copyItem(at: home, to: kept)
        let store = try await site.store()
        #expect(try await store.states { try await $0.remove([.package("EE")]) } == [.done])
        await store.suspend()
        try FileManager.default.createDirectory(
            at: home.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: kept, to: home)
        try flip(file)
        let again = try await site.store()
        #expect(try await again.states { try await $0.install([.package("EE")]) } == [.done])
        #expect(try await again.verify(deep: true).isEmpty)
        #expect(try again.shows("EE 1", map))
        await again.suspend()

        // A whole file without a row is still taken and not downloaded once more.
        let sent = site.sent("packages/1/EE.mbtiles")
        let third = try await site.store()
        #expect(try await third.states { try await $0.remove([.package("EE")]) } == [.done])
        await third.suspend()
        try FileManager.default.createDirectory(
            at: home.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: kept, to: home)
        let last = try await MapStore(alone: try site.options())
        let events = last.events
        let id = try #require(try await last.install([.package("EE")]).first)
        try await last.start()
        #expect(await last.end(of: id, in: events) == .done)
        #expect(site.sent("packages/1/EE.mbtiles") == sent)
        #expect(try last.shows("EE 1", map))
    }

    /// The process of `device repair` ends after the call.
    @Test func aRepairReturnsWhenTheDamageIsNoted() async throws {
        let file = try await installed()
        try flip(file)
        let store = try await MapStore(alone: try site.options())
        #expect(try await store.repair().map(\.isMended) == [true])
        #expect(exists(file))
        await store.suspend()
        let next = try await MapStore(alone: try site.options())
        #expect(try await next.status(of: .package("EE"))?.isDamaged == true)
        #expect(try await next.tasks().map(\.items) == [[.package("EE")]])
    }

    @Test func aRepairWithoutACatalogOrANetworkChangesNothing() async throws {
        let file = try await installed()
        try flip(file)
        var options = try site.options()
        options.catalog = nil
        let store = try await MapStore(alone: options)
        let error = await #expect(throws: StoreError.self) { try await store.repair() }
        #expect(error?.code == .notInCatalog && exists(file), "\(error as Any)")
        await store.suspend()
        let next = try await MapStore(alone: try site.options())
        await next.forceOffline(true)
        let offline = await #expect(throws: StoreError.self) { try await next.repair() }
        #expect(offline?.failure == .connection && exists(file), "\(offline as Any)")
        #expect(try await next.installed().count == 1)
    }

    private func flip(_ file: URL) throws {
        var bytes = try Data(contentsOf: file)
        bytes[9_000] ^= 0xFF
        try bytes.write(to: file)
    }
}
