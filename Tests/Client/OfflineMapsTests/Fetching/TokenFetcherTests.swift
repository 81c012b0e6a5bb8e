import Foundation
import Synchronization
import Testing

@testable import OfflineMaps

/// Who gets the token of a catalog.
struct TokenFetcherTests {
    /// Keeps the last header `Authorization`.
    private final class Recorder: Fetcher {
        let last = Mutex<String?>(nil)
        var continuesWhileSuspended: Bool { false }

        func body(_ request: ResourceRequest, limit: Int) async throws(FetchError) -> FetchedBody {
            last.withLock { $0 = request.headers["Authorization"] }
            return FetchedBody(status: 200, body: Data())
        }

        func file(
            _ request: ResourceRequest, into part: URL, from offset: UInt64, limit: UInt64,
            progress: @Sendable (UInt64) -> Void
        ) async throws(FetchError) -> FetchedFile {
            last.withLock { $0 = request.headers["Authorization"] }
            return FetchedFile(status: 200, size: 0)
        }
    }

    private func options(_ catalog: String, _ recorder: Recorder) -> StoreOptions {
        var options = StoreOptions(folder: URL(filePath: "/unused"), trust: .unsigned)
        (options.catalog, options.fetcher) = (URL(string: catalog), recorder)
        return options
    }

    @Test(arguments: [
        ("https://maps.example.com/offline/", "https://MAPS.example.com:443/offline/packages/1/EE.mbtiles", true),
        ("https://maps.example.com:8443/", "https://maps.example.com:8443/catalog.json", true),
        ("https://maps.example.com/", "http://maps.example.com/catalog.json", false),
        ("https://maps.example.com/", "https://maps.example.com:8443/catalog.json", false),
        ("https://maps.example.com/", "https://mirror.example.com/catalog.json", false),
        ("https://maps.example.com/", "https://maps.example.com.evil.example/catalog.json", false),
    ])
    func onlyTheServerOfTheCatalogGetsIt(catalog: String, address: String, isSent: Bool) async throws {
        let recorder = Recorder()
        let fetcher = try TokenFetcher.make(options(catalog, recorder), CatalogToken("ph_a"))
        let request = ResourceRequest(try #require(URL(string: address)), .package)
        _ = try await fetcher.body(request, limit: 1)
        #expect(recorder.last.withLock { $0 } == (isSent ? "Bearer ph_a" : nil))
        recorder.last.withLock { $0 = nil }
        _ = try await fetcher.file(request, into: URL(filePath: "/unused"), from: 0, limit: 1) { _ in }
        #expect(recorder.last.withLock { $0 } == (isSent ? "Bearer ph_a" : nil))
    }

    @Test func aHeaderOfTheAppHasPriority() async throws {
        let recorder = Recorder()
        let fetcher = try TokenFetcher.make(options("https://maps.example.com/", recorder), CatalogToken("ph_a"))
        let url = try #require(URL(string: "https://maps.example.com/catalog.json"))
        _ = try await fetcher.body(ResourceRequest(url, .catalog, headers: ["Authorization": "Basic x"]), limit: 1)
        #expect(recorder.last.withLock { $0 } == "Basic x")
    }

    @Test(arguments: ["", "two words", "line\nbreak", "größe"])
    func aTokenThatNoHeaderCanHaveIsRefused(token: String) {
        #expect(throws: StoreError.self) { _ = try CatalogToken(token) }
    }

    @Test func aLaterTokenReplacesTheFormerOne() async throws {
        let (recorder, token) = (Recorder(), try CatalogToken(nil))
        let fetcher = TokenFetcher.make(options("https://maps.example.com/", recorder), token)
        let request = ResourceRequest(try #require(URL(string: "https://maps.example.com/catalog.json")), .catalog)
        for text in ["ph_a", "ph_b"] {
            try token.replace(with: text)
            _ = try await fetcher.body(request, limit: 1)
            #expect(recorder.last.withLock { $0 } == "Bearer \(text)")
        }
        #expect(throws: StoreError.self) { try token.replace(with: "two words") }
        #expect(token.current == "ph_b")
    }
}
