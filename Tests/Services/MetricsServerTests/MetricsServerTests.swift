import Errors
import Foundation
import TestSupport
import Testing

@testable import MetricsServer

/// The server over real sockets, and its bounds.
@Suite(.timeLimit(.minutes(15)))
struct MetricsServerTests {
    private static let page = "# HELP packhorse_a A\n# TYPE packhorse_a gauge\npackhorse_a 1\n"

    /// Runs a server on a free port while `body` runs.
    private func serving(
        _ limits: MetricsServer.Limits = .init(), _ body: (RawHTTPClient.Place) async throws -> Void
    ) async throws {
        let address = try #require(MetricsAddress("127.0.0.1:0"))
        let server = try await MetricsServer.bind(address, option: "--metrics", limits: limits)
        guard case .tcp(_, let port) = server.address else { throw RawHTTPClient.Failure.noPort }
        let page = Self.page
        server.serve { page }
        do { try await body(.port(port)) } catch {
            await server.close()
            throw error
        }
        await server.close()
    }

    @Test func thePageIsServedToGetAndHead() async throws {
        try await serving { place in
            let get = try await RawHTTPClient.get("/metrics", from: place)
            #expect(get.status == 200)
            #expect(get.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            #expect(get.headers["connection"] == "close")
            #expect(get.text == Self.page)
            #expect(try await RawHTTPClient.get("/metrics?name=a", from: place).text == Self.page)
            let head = try await RawHTTPClient.send("HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n", to: place)
            #expect(head.status == 200 && head.body.isEmpty)
            #expect(head.headers["content-length"] == "\(Self.page.utf8.count)")
            let old = try await RawHTTPClient.send("GET /metrics HTTP/1.0\r\n\r\n", to: place)
            #expect(old.status == 200 && old.text == Self.page)
        }
    }

    @Test func everythingElseIsRefused() async throws {
        try await serving { place in
            for path in ["/", "/metrics/", "/Metrics", "/metricsx", "//metrics", "/healthz"] {
                #expect(try await RawHTTPClient.get(path, from: place).status == 404, "\(path)")
            }
            for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
                let text = "\(method) /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde"
                let answer = try await RawHTTPClient.send(text, to: place)
                #expect(answer.status == 405 && answer.headers["allow"] == "GET, HEAD", "\(method)")
            }
            #expect(try await RawHTTPClient.send("nonsense\r\n\r\n", to: place).status == 400)
            #expect(try await RawHTTPClient.get("/metrics", from: place).status == 200)
        }
    }

    @Test func aRequestOfManyBytesIsRefused() async throws {
        try await serving { place in
            let field = "X: " + String(repeating: "a", count: 9_000)
            let answer = try await RawHTTPClient.send("GET /metrics HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n", to: place)
            #expect(answer.status == 431)
            #expect(try await RawHTTPClient.get("/metrics", from: place).status == 200)
        }
    }

    @Test func aSlowRequestIsCut() async throws {
        var limits = MetricsServer.Limits()
        limits.time = 0.3
        try await serving(limits) { place in
            await #expect(throws: RawHTTPClient.Failure.self) {
                _ = try await RawHTTPClient.send("GET /metrics HTTP/1.1\r\nHos", to: place)
            }
            let next = try await RawHTTPClient.get("/metrics", from: place)
            #expect(next.status == 200)
        }
    }

    @Test func moreConnectionsThanAllowedAreClosedAtOnce() async throws {
        try await serving { place in
            let held = try (0..<16).map { _ in try RawHTTPClient.connect(place) }
            // The server counts a connection when it takes it.
            try await Eventually.holds("the seventeenth is refused") {
                do { _ = try await RawHTTPClient.get("/metrics", from: place) } catch { return true }
                return false
            }
            for descriptor in held { close(descriptor) }
            try await Eventually.holds("there is room again") {
                do { return try await RawHTTPClient.get("/metrics", from: place).status == 200 } catch { return false }
            }
        }
    }

    @Test func beforeThereIsAPageItSaysSo() async throws {
        let server = try await MetricsServer.bind(try #require(MetricsAddress("127.0.0.1:0")))
        guard case .tcp(_, let port) = server.address else { return }
        #expect(try await RawHTTPClient.get("/metrics", from: .port(port)).status == 503)
        server.serve { nil }
        #expect(try await RawHTTPClient.get("/metrics", from: .port(port)).status == 503)
        server.serve { "a 1\n" }
        #expect(try await RawHTTPClient.get("/metrics", from: .port(port)).text == "a 1\n")
        await server.close()
    }

    @Test func anAddressInUseNamesTheOption() async throws {
        let server = try await MetricsServer.bind(try #require(MetricsAddress("127.0.0.1:0")))
        let error = await #expect(throws: MetricsServerError.self) {
            _ = try await MetricsServer.bind(server.address)
        }
        #expect(error?.code == .cannotListen && error?.exitStatus == .temporary)
        #expect(error?.message.contains("\(server.address)") == true && error?.hint?.contains("--metrics") == true)
        await server.close()
        let away = await #expect(throws: MetricsServerError.self) {
            _ = try await MetricsServer.bind(try #require(MetricsAddress("192.0.2.1:9470")))
        }
        #expect(away?.code == .badHost && away?.exitStatus == .configuration)
    }

    /// A connection that is being taken while the server stops ends, and not the process.
    @Test func aStopWhileClientsConnectIsAnEnd() async throws {
        for _ in 0..<100 {
            let server = try await MetricsServer.bind(try #require(MetricsAddress("127.0.0.1:0")))
            guard case .tcp(_, let port) = server.address else { return }
            let held = try (0..<3).map { _ in try RawHTTPClient.connect(.port(port)) }
            await server.close()
            for descriptor in held { close(descriptor) }
            #expect(throws: RawHTTPClient.Failure.self) { close(try RawHTTPClient.connect(.port(port))) }
        }
    }

    @Test func aSocketIsServedAndLeavesNoFile() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "metrics-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "socket").path
        let address = try #require(MetricsAddress("unix:\(path)"))
        let server = try await MetricsServer.bind(address)
        server.serve { "a 1\n" }
        #expect(try await RawHTTPClient.get("/metrics", from: .path(path)).text == "a 1\n")
        let used = await #expect(throws: MetricsServerError.self) { _ = try await MetricsServer.bind(address) }
        #expect(used?.code == .cannotListen)
        await server.close()
        #expect(!FileManager.default.fileExists(atPath: path))

        // The socket of a process that was killed.
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var left = sockaddr_un()
        left.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &left.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let isBound = withUnsafePointer(to: &left) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        close(descriptor)
        #expect(isBound && FileManager.default.fileExists(atPath: path))
        let again = try await MetricsServer.bind(address)
        await again.close()

        try Data("text".utf8).write(to: URL(filePath: path))
        let file = await #expect(throws: MetricsServerError.self) { _ = try await MetricsServer.bind(address) }
        #expect(file?.code == .badPath && file?.exitStatus == .cannotCreate)
        let nowhere = await #expect(throws: MetricsServerError.self) {
            _ = try await MetricsServer.bind(try #require(MetricsAddress("unix:\(folder.path)/none/socket")))
        }
        #expect(nowhere?.code == .badPath)
    }
}

extension RawHTTPClient.Failure {
    /// The server has no port.
    static var noPort: Self { Self("the server has no port") }
}
