#if os(Linux)
    import Foundation
    import TestSupport
    import Testing
    import Tiles

    @testable import OfflineMaps

    /// A suspended store holds no lock of the system, whatever it did when it was suspended: an app that is stopped with a
    /// locked file is killed by some systems.
    @Suite(.timeLimit(.minutes(15)))
    struct MapStoreSuspendTests {
        /// The lines of `/proc/locks` about files of a folder that this process has locked.
        private static func locks(below folder: URL) throws -> [String] {
            var inodes: Set<String> = []
            let files = FileManager.default.enumerator(atPath: folder.path)
            while let path = files?.nextObject() as? String {
                var status = stat()
                if stat(folder.appending(path: path).path, &status) == 0 { inodes.insert("\(status.st_ino)") }
            }
            // The file gives a page for each read.
            let handle = try FileHandle(forReadingFrom: URL(filePath: "/proc/locks"))
            defer { try? handle.close() }
            var bytes = Data()
            while let part = try handle.read(upToCount: 4_096), !part.isEmpty { bytes += part }
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { line in
                let words = line.split(separator: " ")
                let place = words.first { $0.split(separator: ":").count == 3 }
                let inode = place?.split(separator: ":").last.map(String.init) ?? ""
                return words.contains("\(getpid())") && inodes.contains(inode)
            }.map(String.init)
        }

        /// Suspended before the download, in twentieths of it, and after it.
        @Test(arguments: 0...20)
        func aSuspendedStoreHoldsNoLock(twentieths: Int) async throws {
            let site = try StoreSite()
            let map = try TestMap((7, 72, 37), depth: 4)
            let path = try site.add("EE", depth: 4)
            try site.publish()
            let (store, size) = (try await site.store(), site.size(path))
            try await store.refreshCatalog()
            // The worker holds the lock; other processes may move its line between two reads of the list.
            try await Eventually.holds("a lock of the worker") { try !Self.locks(below: site.scratch.url).isEmpty }
            let there = size * twentieths / 20
            site.stall(path, at: there)
            let events = store.events
            let id = try #require(try await store.install([.package("EE")]).first)
            if twentieths > 1 {
                let wanted = UInt64(size * (twentieths - 1) / 20)
                _ = await store.wait(in: events) { event in
                    if case .task(let task) = event { task.progress.transferred >= wanted } else { false }
                }
            }
            await store.suspend()
            #expect(try Self.locks(below: site.scratch.url) == [])
            // Another process may work meanwhile.
            let other = try StoreLock.acquire(site.scratch.folder.lock)
            #expect(other != nil)
            other?.release()
            site.stall(path, at: nil)
            let continued = store.events
            try await store.start()
            if try await store.tasks().contains(where: { $0.id == id }) {
                #expect(await store.end(of: id, in: continued) == .done)
            }
            #expect(try store.shows("EE 1", map))
        }

        /// The folder may be gone, or unreadable, when the app comes back.
        @Test func aStoreThatCannotBeOpenedAgainSaysWhy() async throws {
            let site = try StoreSite()
            try site.add("EE")
            try site.publish()
            let store = try await site.store()
            try await store.refreshCatalog()
            await store.suspend()
            let (folder, away) = (site.scratch.url, site.scratch.url.appendingPathExtension("away"))
            try FileManager.default.moveItem(at: folder, to: away)
            let error = await #expect(throws: StoreError.self) { try await store.start() }
            #expect(error?.code == .folder)
            try FileManager.default.moveItem(at: away, to: folder)
            try await store.start()
            #expect(try await store.states { try await $0.install([.package("EE")]) } == [.done])
        }
    }
#endif
