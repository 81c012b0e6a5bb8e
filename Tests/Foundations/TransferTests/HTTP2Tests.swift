import Errors
import TestSupport
import Testing
import Transfer

@Suite(.timeLimit(.minutes(15)), .enabled(if: NginxTLS.absence == nil, "nginx or openssl is absent"))
struct HTTP2Tests {
    private func client(_ server: NginxTLS, http2: Bool, trusts: Bool = true) throws -> TransferClient {
        var options = TransferOptions()
        options.http2 = http2
        options.certificateFile = trusts ? server.certificate : nil
        return try TransferClient(options)
    }

    private func answers(_ client: TransferClient, _ url: String, count: UInt64) async throws -> [String] {
        let download = client.download()
        download.submit((0..<count).map { TransferRequest(tag: $0, url: "\(url)/\($0)") })
        var texts: [String] = []
        while true {
            let results = await download.next(wanted: 50)
            if results.isEmpty { return texts }
            texts += try results.map { String(decoding: try $0.outcome.get().body, as: UTF8.self) }
        }
    }

    @Test func chosenOverTLSItIsSpokenOnOneConnection() async throws {
        let server = try NginxTLS()
        defer { server.stop() }
        let client = try client(server, http2: true)
        _ = try await client.get(server.url)
        let texts = try await answers(client, server.url, count: 200)
        #expect(texts.count == 200 && texts.allSatisfy { $0.hasPrefix("HTTP/2.0 ") })
        #expect(Set(texts).count == 1)
    }

    @Test func otherwiseHTTP1IsSpokenAndKeptAlive() async throws {
        let server = try NginxTLS()
        defer { server.stop() }
        let texts = try await answers(try client(server, http2: false), server.url, count: 200)
        #expect(texts.count == 200 && texts.allSatisfy { $0.hasPrefix("HTTP/1.1 ") })
        #expect(Set(texts).count <= 8)
    }

    @Test func aCertificateNobodyTrustsIsRefusedAtOnce() async throws {
        let server = try NginxTLS()
        defer { server.stop() }
        let stranger = try client(server, http2: true, trusts: false)
        let error = await #expect(throws: TransferError.self) { try await stranger.get(server.url) }
        #expect(error?.code == .tlsFailed && error?.isRetriable == false)
    }
}
