import Foundation
import OfflineMaps
import Synchronization
import Testing

@testable import DeviceCommands

/// A folder in place of a web server.
struct FolderFetcherTests {
    private static let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })

    private func failure(_ body: () async throws(FetchError) -> Void) async -> FetchError? {
        do throws(FetchError) {
            try await body()
            return nil
        } catch { return error }
    }

    @Test func aBodyAndItsETag() async throws {
        let scratch = try DeviceScratch()
        let url = try scratch.write("catalog/catalog.json", Data("{}".utf8))
        let fetcher = FolderFetcher(scratch.file("catalog"))
        let first = try await fetcher.body(ResourceRequest(url, .catalog), limit: 2)
        #expect(first.status == 200 && first.body == Data("{}".utf8))
        let etag = try #require(first.etag)
        let again = ResourceRequest(url, .catalog, headers: ["If-None-Match": etag])
        #expect(try await fetcher.body(again, limit: 2).status == 304)
        try Data("{ }".utf8).write(to: url)
        #expect(try await fetcher.body(again, limit: 3).body == Data("{ }".utf8))
        let error = await failure { () throws(FetchError) in _ = try await fetcher.body(again, limit: 2) }
        #expect(error?.cause == .tooBig)
    }

    @Test(arguments: [0, 1, 2_000_000, 2_999_999])
    func aFileFromAnOffset(_ offset: Int) async throws {
        let scratch = try DeviceScratch()
        let url = try scratch.write("catalog/a.mbtiles", Self.content)
        let part = try scratch.write("a.part", Self.content.prefix(offset) + Data([9, 9]))
        let sizes = Mutex<[UInt64]>([])
        let file = try await FolderFetcher(scratch.file("catalog")).file(
            ResourceRequest(url, .package), into: part, from: UInt64(offset), limit: 3_000_000
        ) { size in sizes.withLock { $0.append(size) } }
        #expect(file.size == 3_000_000 && !file.startedOver)
        #expect(sizes.withLock { $0.last } == 3_000_000)
        #expect(try Data(contentsOf: part) == Self.content)
    }

    @Test func aPartFileThatIsTooLongStartsOver() async throws {
        let scratch = try DeviceScratch()
        let url = try scratch.write("catalog/a.mbtiles", Data([1, 2, 3]))
        let part = try scratch.write("a.part", Data([1, 2, 3, 4, 5]))
        let file = try await FolderFetcher(scratch.file("catalog")).file(
            ResourceRequest(url, .package), into: part, from: 5, limit: 10
        ) { _ in }
        #expect(file.startedOver && file.size == 3)
        #expect(try Data(contentsOf: part) == Data([1, 2, 3]))
    }

    @Test(arguments: ["../secret", "../catalog2/secret", "a/../../secret"])
    func nothingOutsideOfTheFolderIsRead(_ path: String) async throws {
        let scratch = try DeviceScratch()
        try scratch.write("catalog/catalog.json", Data("{}".utf8))
        try scratch.write("secret", Data("secret".utf8))
        try scratch.write("catalog2/secret", Data("secret".utf8))
        let fetcher = FolderFetcher(scratch.file("catalog"))
        let url = try #require(URL(string: scratch.file("catalog").absoluteString + "/" + path))
        let error = await failure { () throws(FetchError) in
            _ = try await fetcher.body(ResourceRequest(url, .style), limit: 100)
        }
        #expect(error?.cause == .notAllowed)
    }

    @Test func whatDoesNotExistAndFoldersAreNotFound() async throws {
        let scratch = try DeviceScratch()
        try scratch.write("catalog/packages/1/EE.mbtiles", Data([1]))
        let fetcher = FolderFetcher(scratch.file("catalog"))
        for path in ["catalog/no", "catalog/packages"] {
            let request = ResourceRequest(scratch.file(path), .package)
            let error = await failure { () throws(FetchError) in _ = try await fetcher.body(request, limit: 9) }
            #expect(error?.cause == .notFound && error?.status == 404)
        }
    }

    /// A catalog of a web server cannot name a file of this machine.
    @Test func filesAreReadOnlyForACatalogInAFolder() async throws {
        let scratch = try DeviceScratch()
        let url = try scratch.write("secret", Data("secret".utf8))
        let fetcher = try DeviceFetcher(folder: nil)
        let error = await failure { () throws(FetchError) in
            _ = try await fetcher.body(ResourceRequest(url, .style), limit: 100)
        }
        #expect(error?.cause == .invalidArguments)
    }
}
