import Errors
import Synchronization
import TestSupport
import Testing
import Transfer

private typealias Script = @Sendable (ScriptedServer.Request) -> ScriptedServer.Answer

/// Serves `script` to `body` and stops afterwards.
private func serving(
    _ script: @escaping Script, _ body: (ScriptedServer) async throws -> Void
) async throws {
    let server = try ScriptedServer(script)
    defer { server.stop() }
    try await body(server)
}

/// Options that retry at once.
private func eager(_ change: (inout TransferOptions) -> Void = { _ in }) -> TransferOptions {
    var options = TransferOptions()
    options.retry.base = .milliseconds(1)
    change(&options)
    return options
}

private func failure(_ work: () async throws(TransferError) -> TransferResponse) async -> TransferError? {
    do throws(TransferError) {
        _ = try await work()
        return nil
    } catch {
        return error
    }
}

@Suite(.timeLimit(.minutes(15)))
struct TransferClientTests {
    @Test func aBatchUsesNoMoreConnectionsThanAllowedAndKeepsThemAlive() async throws {
        let script: Script = { .reply(200, body: Array($0.path.utf8)) }
        try await serving(script) { server in
            let client = try TransferClient(eager { $0.concurrency = 4 })
            let download = client.download()
            download.submit((0..<500).map { TransferRequest(tag: $0, url: "\(server.url)/\($0)") })
            var seen: Set<UInt64> = []
            while true {
                let results = await download.next(wanted: 100)
                if results.isEmpty { break }
                for result in results {
                    let response = try result.outcome.get()
                    #expect(response.status == 200 && response.body == Array("/\(result.tag)".utf8))
                    #expect(seen.insert(result.tag).inserted)
                }
            }
            #expect(seen.count == 500)
            #expect(server.connections <= 4)
            client.close()
        }
    }

    @Test func aGzipBodyIsHandedOverByteForByteWithItsCoding() async throws {
        let body: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        let headers = [
            ("Content-Encoding", "gzip"), ("content-type", " application/x-protobuf "), ("ETag", "\"a\""),
            ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ]
        let script: Script = { _ in .reply(200, headers: headers, body: body) }
        try await serving(script) { server in
            let client = try TransferClient(eager())
            let response = try await client.get("\(server.url)/")
            #expect(response.body == body)
            #expect(response.headers.contentEncoding == "gzip")
            #expect(response.headers.contentType == "application/x-protobuf")
            #expect(response.headers.etag == "\"a\"")
            #expect(response.headers.lastModified == "Sun, 06 Nov 1994 08:49:37 GMT")
            #expect(server.requests.first?.headers["accept-encoding"] == "gzip")
        }
    }

    @Test func aBusyServerIsAskedAgain() async throws {
        let script: Script = { $0.earlier < 2 ? .reply(503) : .reply(200, body: [1]) }
        try await serving(script) { server in
            let response = try await TransferClient(eager()).get("\(server.url)/")
            #expect(response.status == 200 && response.attempts == 3)
        }
    }

    @Test func aServerThatStaysBusyIsGivenUpAfterFiveAttempts() async throws {
        let script: Script = { _ in .reply(500) }
        try await serving(script) { server in
            let response = try await TransferClient(eager()).get("\(server.url)/")
            #expect(response.status == 500 && response.attempts == 5)
            #expect(server.requests.count == 5)
        }
    }

    @Test func retryAfterHoldsBackTheWholeClient() async throws {
        let script: Script = { request in
            request.path == "/a" && request.earlier == 0
                ? .reply(429, headers: [("Retry-After", "1")]) : .reply(200)
        }
        try await serving(script) { server in
            let client = try TransferClient(eager { $0.concurrency = 1 })
            let start = ContinuousClock.now
            let download = client.download()
            download.submit([
                TransferRequest(tag: 0, url: "\(server.url)/a"), TransferRequest(tag: 1, url: "\(server.url)/b"),
            ])
            while !(await download.next(wanted: 2)).isEmpty {}
            #expect(ContinuousClock.now - start >= .seconds(1))
            #expect(server.requests.count == 3)
        }
    }

    @Test(arguments: [400, 401, 403, 404, 410, 204])
    func otherStatusesAreAnswersAndNotTriedAgain(status: Int) async throws {
        let script: Script = { _ in .reply(status) }
        try await serving(script) { server in
            let response = try await TransferClient(eager()).get("\(server.url)/")
            #expect(response.status == status && response.attempts == 1)
            #expect(server.requests.count == 1)
        }
    }

    @Test func aShortBodyIsTruncatedAfterRetries() async throws {
        let bytes = Array("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this".utf8)
        let script: Script = { _ in .raw(bytes) }
        try await serving(script) { server in
            let client = try TransferClient(eager { $0.retry.maxAttempts = 2 })
            let error = await failure { () throws(TransferError) in try await client.get("\(server.url)/") }
            #expect(error?.code == .truncated)
            #expect(server.requests.count == 2)
        }
    }

    @Test func aShortBodyOnceIsMendedByARetry() async throws {
        let bytes = Array("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this".utf8)
        let script: Script = { $0.earlier == 0 ? .raw(bytes) : .reply(200, body: [7]) }
        try await serving(script) { server in
            let response = try await TransferClient(eager()).get("\(server.url)/")
            #expect(response.body == [7] && response.attempts == 2 && response.received == 10)
        }
    }

    @Test(arguments: [true, false])
    func aBodyBeyondTheLimitIsStopped(isAnnounced: Bool) async throws {
        let head = isAnnounced ? "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" : "HTTP/1.1 200 OK\r\n\r\n"
        let bytes = Array(head.utf8) + [UInt8](repeating: 65, count: 5_000)
        let script: Script = { _ in .raw(bytes) }
        try await serving(script) { server in
            let client = try TransferClient(eager { $0.maxBodyBytes = 4_999 })
            let error = await failure { () throws(TransferError) in try await client.get("\(server.url)/") }
            #expect(error?.code == .tooLarge)
            #expect(server.requests.count == 1)
        }
    }

    @Test func aRedirectLoopEnds() async throws {
        let script: Script = { _ in .reply(302, headers: [("Location", "/again")]) }
        try await serving(script) { server in
            let client = try TransferClient(eager())
            let error = await failure { () throws(TransferError) in try await client.get("\(server.url)/") }
            #expect(error?.code == .tooManyRedirects)
            #expect(server.requests.count == 6)
        }
    }

    @Test func aSecretHeaderStaysOnItsHost() async throws {
        let elsewhere: Script = { _ in .reply(200) }
        try await serving(elsewhere) { other in
            let target = "\(other.url)/there"
            let script: Script = { request in
                switch request.path {
                case "/": .reply(301, headers: [("Location", "/here")])
                default: .reply(307, headers: [("Location", target)])
                }
            }
            try await serving(script) { server in
                let client = try TransferClient(eager { $0.headers = [HeaderField("X-Token", "secret")] })
                let own = [HeaderField("X-Own", "secret")]
                #expect(try await client.get("\(server.url)/", headers: own).status == 200)
                #expect(server.requests.map { $0.headers["x-token"] } == ["secret", "secret"])
                #expect(server.requests.map { $0.headers["x-own"] } == ["secret", "secret"])
                #expect(other.requests.count == 1)
                #expect(other.requests.first?.headers["x-token"] == nil)
                #expect(other.requests.first?.headers["x-own"] == nil)
            }
        }
    }

    /// "latest" may lead to another folder than it did when the validator was given.
    @Test func whatOneAddressProvedIsNotAskedOfAnother() async throws {
        let script: Script = { request in
            request.path == "/latest" ? .reply(302, headers: [("Location", "/of-today")]) : .reply(200)
        }
        try await serving(script) { server in
            let client = try TransferClient(eager())
            let asked = [HeaderField("If-None-Match", "\"1\""), HeaderField("X-Own", "kept")]
            #expect(try await client.get("\(server.url)/latest", headers: asked).status == 200)
            #expect(server.requests.map { $0.headers["if-none-match"] } == ["\"1\"", nil])
            #expect(server.requests.map { $0.headers["x-own"] } == ["kept", "kept"])
        }
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/", "http://127.0.0.1@example.org/", "gopher://x/"])
    func aRedirectElsewhereIsRefused(target: String) async throws {
        let script: Script = { _ in .reply(302, headers: [("Location", target)]) }
        try await serving(script) { server in
            let client = try TransferClient(eager())
            let error = await failure { () throws(TransferError) in try await client.get("\(server.url)/") }
            #expect(error?.code == .redirectRefused)
        }
    }

    @Test func theOwnerOfTheClientMayRefuseARedirect() async throws {
        let script: Script = { _ in .reply(302, headers: [("Location", "/forbidden")]) }
        try await serving(script) { server in
            let client = try TransferClient(
                eager { $0.redirectRefusal = { $0.hasSuffix("/forbidden") ? "not there" : nil } })
            let error = await failure { () throws(TransferError) in try await client.get("\(server.url)/") }
            #expect(error?.code == .redirectRefused && error?.message == "not there")
        }
    }

    @Test func aSilentServerTimesOut() async throws {
        let script: Script = { _ in .silence }
        try await serving(script) { server in
            let client = try TransferClient(
                eager {
                    $0.totalTimeout = .milliseconds(50)
                    $0.retry.maxAttempts = 2
                })
            let error = await failure { () throws(TransferError) in try await client.get("\(server.url)/") }
            #expect(error?.code == .timeout)
            #expect(server.requests.count == 2)
        }
    }

    @Test func aClosedPortIsAConnectFailureThatNamesTheHost() async throws {
        let server = try ScriptedServer { _ in .reply(200) }
        server.stop()
        let client = try TransferClient(eager { $0.retry.maxAttempts = 2 })
        let url = "\(server.url)/secret?key=secret"
        let error = await failure { () throws(TransferError) in try await client.get(url) }
        #expect(error?.code == .connectFailed)
        #expect(error?.message.contains("127.0.0.1:\(server.port)") == true)
        #expect(error?.message.contains("secret") == false)
    }

    @Test(arguments: ["", "file:///etc/passwd", "tiles", "http://", "http://user:pass@127.0.0.1/"])
    func otherURLsAreRefusedUnsent(url: String) async throws {
        let client = try TransferClient(eager())
        let error = await failure { () throws(TransferError) in try await client.get(url) }
        #expect(error?.code == .invalidRequest)
    }

    @Test func aHeaderCannotSmuggleASecondOne() async throws {
        let client = try TransferClient(eager())
        let evil = [HeaderField("X", "a\r\nY: b")]
        let error = await failure { () throws(TransferError) in
            try await client.get("http://127.0.0.1/", headers: evil)
        }
        #expect(error?.code == .invalidRequest)
        #expect(throws: TransferError.self) { try TransferClient(eager { $0.userAgent = "a\nb" }) }
    }

    @Test func theRateIsKept() async throws {
        let script: Script = { _ in .reply(200) }
        try await serving(script) { server in
            let client = try TransferClient(eager { $0.requestsPerSecond = 50 })
            let start = ContinuousClock.now
            let download = client.download()
            download.submit((0..<40).map { TransferRequest(tag: $0, url: "\(server.url)/\($0)") })
            while !(await download.next(wanted: 40)).isEmpty {}
            // 2 from the bucket, 38 at 49 per second.
            #expect(ContinuousClock.now - start >= .milliseconds(700))
            #expect(server.requests.count == 40)
        }
    }

    @Test func closingEndsWhatIsUnderWay() async throws {
        let script: Script = { _ in .silence }
        try await serving(script) { server in
            let client = try TransferClient(eager { $0.concurrency = 2 })
            let download = client.download()
            download.submit((0..<10).map { TransferRequest(tag: $0, url: "\(server.url)/\($0)") })
            client.close()
            var count = 0
            while true {
                let results = await download.next(wanted: 100)
                if results.isEmpty { break }
                count += results.count
                for result in results {
                    guard case .failure(let error) = result.outcome else { continue }
                    #expect(error.code == .cancelled)
                }
            }
            #expect(count == 10)
            download.submit([TransferRequest(tag: 11, url: "\(server.url)/")])
            #expect(await download.next().count == 1)
        }
    }

    @Test func cancellingATaskEndsItsDownloadAndNoOther() async throws {
        let script: Script = { $0.path == "/quick" ? .reply(200) : .silence }
        try await serving(script) { server in
            let client = try TransferClient(eager())
            let download = client.download()
            download.submit((0..<3).map { TransferRequest(tag: $0, url: "\(server.url)/\($0)") })
            let task = Task { await download.next(wanted: 3).count }
            task.cancel()
            #expect(await task.value >= 1)
            #expect(try await client.get("\(server.url)/quick").status == 200)
        }
    }
}
