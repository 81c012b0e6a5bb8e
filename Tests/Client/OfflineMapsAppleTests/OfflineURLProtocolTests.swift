import Foundation
import OfflineMaps
import OfflineMapsApple
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A renderer's session that is answered from a store.
///
/// The class has one store for the process, so the tests take turns.
@Suite(.serialized, .timeLimit(.minutes(15)))
final class OfflineURLProtocolTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "packhorse-apple-\(UUID().uuidString)")
    private let session: URLSession

    init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [OfflineURLProtocol.self]
        session = URLSession(configuration: configuration)
    }

    deinit {
        OfflineURLProtocol.serve(nil)
        // Files that stay are harmless.
        try? FileManager.default.removeItem(at: folder)
    }

    private func store() async throws -> MapStore {
        try await MapStore.open(StoreOptions(folder: folder, trust: .unsigned))
    }

    private func get(_ address: String) async throws -> (body: Data, answer: HTTPURLResponse) {
        let (body, answer) = try await session.data(from: try #require(URL(string: address)))
        return (body, try #require(answer as? HTTPURLResponse))
    }

    @Test func whatTheStoreKeepsIsAnsweredWithoutARequest() async throws {
        let server = try ScriptedServer { _ in .reply(500) }
        defer { server.stop() }
        let store = try await store()
        let url = try #require(URL(string: server.url + "/style.json"))
        var freshness = Freshness()
        freshness.expires = Date.distantFuture
        freshness.eTag = "\"7\""
        try await store.preload(Data("{}".utf8), for: url, freshness)
        OfflineURLProtocol.serve(store.resources)
        let (body, answer) = try await get(url.absoluteString)
        #expect(body == Data("{}".utf8) && answer.statusCode == 200)
        #expect(answer.value(forHTTPHeaderField: "ETag") == "\"7\"")
        #expect(server.requests.isEmpty)
    }

    @Test func whatIsNowhereIsNotFound() async throws {
        let server = try ScriptedServer { _ in .reply(404) }
        defer { server.stop() }
        let store = try await store()
        try await store.start()
        OfflineURLProtocol.serve(store.resources)
        #expect(try await get(server.url + "/other.json").answer.statusCode == 404)
    }

    @Test func otherHostsGoTheirUsualWay() async throws {
        let server = try ScriptedServer { _ in .reply(200, body: Array("live".utf8)) }
        defer { server.stop() }
        OfflineURLProtocol.serve(try await store().resources, hosts: ["maps.example.com"])
        #expect(try await get(server.url + "/a").body == Data("live".utf8))
        OfflineURLProtocol.serve(nil)
        #expect(try await get(server.url + "/a").body == Data("live".utf8))
        #expect(server.requests.count == 2)
    }

    @Test func onlyGetOfHTTPIsAnswered() async throws {
        OfflineURLProtocol.serve(try await store().resources, hosts: ["MAPS.example.com"])
        func asks(_ address: String, _ method: String = "GET") throws -> Bool {
            var request = URLRequest(url: try #require(URL(string: address)))
            request.httpMethod = method
            return OfflineURLProtocol.canInit(with: request)
        }
        #expect(try asks("https://maps.example.com/a") && asks("HTTP://maps.EXAMPLE.com/a"))
        #expect(try !asks("https://maps.example.com/a", "POST") && !asks("file:///maps.example.com/a"))
        #expect(try !asks("https://example.com/a"))
    }

    @Test func anAnswerHasNoCoding() throws {
        // RFC 1950: an empty zlib stream.
        let packed = Data([0x78, 0x9C, 0x03, 0x00, 0x00, 0x00, 0x00, 0x01])
        let answer = try ResourceAnswer(Resource(body: packed, mediaType: "x/y", coding: .zlib))
        #expect(answer.body.isEmpty && answer.status == 200 && answer.headers["Content-Type"] == "x/y")
        #expect(throws: StoreError.self) {
            try ResourceAnswer(Resource(body: Data([1, 2, 3]), mediaType: "x/y", coding: .gzip))
        }
        #expect(try ResourceAnswer(nil).status == 404)
        #expect(try ResourceAnswer(Resource(body: Data(), mediaType: "x/y", isEmpty: true)).status == 204)
    }
}
