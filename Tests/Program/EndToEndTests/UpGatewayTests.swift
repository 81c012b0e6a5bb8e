import Foundation
import TestSupport
import Testing

/// `packhorse up` with its gateway.
@Suite(.serialized)
struct UpGatewayTests {
    /// Status of a request.
    private func status(_ url: String, token: String? = nil, in scratch: Scratch) async throws -> String {
        let header = token.map { ["-H", "Authorization: Bearer \($0)"] } ?? []
        let arguments = ["-s", "-o", "/dev/null", "-w", "%{http_code}"] + header + [url]
        return try await Program.run(URL(filePath: "/usr/bin/curl"), arguments, in: scratch).output
    }

    @Test(.timeLimit(.programs))
    func theAddressOfThePageAndAFreshTokenArePrinted() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let port = try #require(try Ports.endpoint().split(separator: ":").last.map(String.init))
        let up = try await RunningUp(["--port", port, "--tileset", origin.tileset], in: scratch)
        let base = "http://127.0.0.1:\(port)/"
        let token = try #require(up.printed["token"])
        #expect(up.printed["page"] == "\(base)#token=\(token)")
        #expect(try await status(base, in: scratch) == "200")
        #expect(try await status("\(base)v1/jobs", in: scratch) == "401")
        #expect(try await status("\(base)v1/jobs", token: token, in: scratch) == "200")

        let job = try await up.submit(["EE", "--zoom", "0-6", "--tileset", origin.tileset])
        #expect(try await up.end(of: job).state == "done")
        try await up.killAndReplace("gateway")
        try await Eventually.holds("the gateway answers again") {
            try await status("\(base)packages/1/EE.mbtiles", in: scratch) == "200"
        }
        let children = try await up.children()
        try await up.daemon.stop()
        #expect(up.daemon.status == 0, "\(up.daemon.said)")
        try await RunningUp.gone(children)

        try await up.startAgain()
        let fresh = try #require(up.printed["token"])
        #expect(fresh != token)
        #expect(try await status("\(base)v1/jobs", token: token, in: scratch) == "401")
        #expect(try await status("\(base)v1/jobs", token: fresh, in: scratch) == "200")
        try await up.daemon.stop()
    }
}
