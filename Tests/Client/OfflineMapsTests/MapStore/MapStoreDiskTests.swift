import Foundation
import TestSupport
import Testing
import Tiles

@testable import OfflineMaps

/// A file system in memory that can be full; only root can make one.
final class SmallDisk: Sendable {
    struct NotPossible: Error {}
    let url: URL

    init(megabytes: Int) throws {
        url = FileManager.default.temporaryDirectory.appending(path: "packhorse-disk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        guard try Self.run("mount", ["-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", url.path]) else {
            throw NotPossible()
        }
    }

    deinit {
        // A test that fails leaves the folder to the system.
        _ = try? Self.run("umount", ["-l", url.path])
        try? FileManager.default.removeItem(at: url)
    }

    static func run(_ program: String, _ arguments: [String]) throws -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    static let isPossible = geteuid() == 0 && (try? SmallDisk(megabytes: 1)) != nil

    /// Fills the disk to its last byte.
    func fill() throws {
        let file = url.appending(path: "ballast")
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        let handle = try FileHandle(forWritingTo: file)
        let block = Data(repeating: 1, count: 1 << 20)
        for size in [1 << 20, 4_096, 1] { while (try? handle.write(contentsOf: block.prefix(size))) != nil {} }
        try handle.close()
    }

    func empty() throws { try FileManager.default.removeItem(at: url.appending(path: "ballast")) }
}

/// A disk that becomes full.
@Suite(.timeLimit(.minutes(15)), .enabled(if: SmallDisk.isPossible, "a small disk can be mounted by root only"))
struct MapStoreDiskTests {
    private let site: StoreSite
    private let disk: SmallDisk
    private let map: TestMap
    private let path: String

    init() throws {
        site = try StoreSite()
        disk = try SmallDisk(megabytes: 80)
        map = try TestMap((7, 72, 37), depth: 4)
        path = try site.add("EE", depth: 4)
        try site.publish()
    }

    private static func isFull(_ event: StoreEvent) -> Bool {
        if case .task(let task) = event, case .paused(.diskFull) = task.state { true } else { false }
    }

    @Test func aTaskWaitsForSpaceBeforeItBegins() async throws {
        let store = try await site.store { $0.folder = disk.url }
        try await store.refreshCatalog()
        try disk.fill()
        await store.stop()
        let events = store.events
        try await store.start()
        await store.worker.process(.disk(free: 0))
        let ids = try await store.install([.package("EE")])
        _ = await store.wait(in: events, for: { Self.isFull($0) })
        #expect(site.requests.isEmpty)
        let ends = try await store.states { [disk] _ in
            try disk.empty()
            return ids
        }
        #expect(ends == [.done])
        #expect(try store.shows("EE 1", map))
    }

    @Test func aDownloadThatFillsTheDiskContinuesLater() async throws {
        let store = try await site.store { $0.folder = disk.url }
        try await store.refreshCatalog()
        site.stall(path, at: site.size(path) / 2)
        let begun = store.events
        let id = try #require(try await store.install([.package("EE")]).first)
        await store.waitForHalf(of: site.size(path), in: begun)
        await store.stop()
        try disk.fill()
        site.stall(path, at: nil)
        let events = store.events
        try await store.start()
        _ = await store.wait(in: events, for: { Self.isFull($0) })
        let ends = try await store.states { [disk] _ in
            try disk.empty()
            return [id]
        }
        #expect(ends == [.done])
        #expect(try store.shows("EE 1", map))
        #expect(try await store.verify(deep: true).isEmpty)
    }
}
