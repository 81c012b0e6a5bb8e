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

    /// A sample that the gateway of `up` makes of a map.
    private func sample(_ port: String, _ token: String, _ body: String, in scratch: Scratch) async throws -> String {
        try await Program.run(
            URL(filePath: "/usr/bin/curl"),
            ["-s", "http://127.0.0.1:\(port)/v1/samples", "-H", "Authorization: Bearer \(token)", "--json", body],
            in: scratch
        ).output
    }

    @Test(.timeLimit(.programs))
    func aMapWithoutATileHasNoBytes() async throws {
        let scratch = try Scratch()
        // Zoom 4 alone has tiles.
        let server = try ScriptedServer { request in
            request.path.hasPrefix("/4/") ? .reply(200, body: SyntheticOrigin.tile(request.path)) : .reply(404)
        }
        defer { server.stop() }
        let tileset = scratch.url("t.yaml")
        try Data("id: t\nurl: \(server.url)/{z}/{x}/{y}.pbf\nzoom: 0-4\nformat: pbf\n".utf8).write(to: tileset)
        let port = try #require(try Ports.endpoint().split(separator: ":").last.map(String.init))
        let up = try await RunningUp(["--port", port, "--tileset", tileset.path], in: scratch)
        let token = try #require(up.printed["token"])
        let area = "\"tileset\":\"t\",\"area\":{\"regions\":[\"EE\"]},\"formats\":[\"pmtiles\"]"
        let none = try await sample(port, token, "{\(area),\"max_zoom\":3}", in: scratch)
        #expect(none.contains("\"bytes\":0,") && !none.contains("reason"), "\(none)")
        for format in ["mbtiles", "pmtiles"] {
            #expect(none.contains("{\"bytes\":0,\"format\":\"\(format)\",\"margin\":0}"), "\(none)")
        }
        #expect(!none.contains("\"sampled\":0,"), "\(none)")
        let some = try await sample(port, token, "{\(area),\"max_zoom\":4}", in: scratch)
        #expect(some.contains("\"bytes\":") && !some.contains("\"bytes\":0,"), "\(some)")
        server.stop()
        // A server that does not answer is not one without tiles.
        let away = try await sample(port, token, "{\(area),\"max_zoom\":2}", in: scratch)
        #expect(away.contains("reason") && !away.contains("bytes"), "\(away)")
        try await up.daemon.stop()
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
