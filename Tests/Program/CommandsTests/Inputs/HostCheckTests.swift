import CommandSupport
import Errors
import Testing
import Tilesets

@testable import Commands

/// A server whose name does not exist is named at once.
struct HostCheckTests {
    private func tileset(_ template: String) throws -> Tileset {
        let text = """
            {"version":1,"id":"demo","templates":["\(template)"],"scheme":"xyz","format":"pbf","minzoom":0,"maxzoom":3,"headers":{},
            "concurrency":1,"contact":"maps@example.com","connectSeconds":1,"totalSeconds":1,"stallSeconds":1,"http2":false,"maxTileBytes":1000}
            """
        return try Tileset(canonicalJSON: Array(text.utf8))
    }

    @Test(arguments: [true, false])
    func aNameWithoutAnAddressEndsWith69(orSilent: Bool) async throws {
        let tileset = try tileset("https://-.invalid/{z}/{x}/{y}.pbf")
        let error = await #expect(throws: CLIError.self) { try await HostCheck.require(tileset, orSilent: orSilent) }
        #expect(error?.status == .unavailable)
        #expect(error?.message == "tileset 'demo': no server has the name -.invalid")
    }

    @Test(arguments: [
        "http://localhost:1/{z}/{x}/{y}.pbf", "http://127.0.0.1:1/{z}/{x}/{y}.pbf", "http://[::1]:1/{z}/{x}/{y}.pbf",
    ])
    func aServerOfThisMachineIsNotAsked(template: String) async throws {
        try await HostCheck.require(try tileset(template), orSilent: true)
    }
}
