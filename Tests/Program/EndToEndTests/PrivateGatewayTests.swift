import Foundation
import TestSupport
import Testing

/// What reads the catalog of a gateway that shows it with a token only.
struct PrivateGatewayTests {
    @Test(.timeLimit(.programs))
    func theVariableOpensAPrivateCatalogForDevicesAndLists() async throws {
        let scratch = try Scratch()
        let (url, token, gateway) = try await start(in: scratch)
        let install = [
            "device", "install", "LI", "--store", scratch.url("maps").path, "--catalog", url, "--unsigned",
        ]
        for command in [install, ["catalog", "list", url], ["catalog", "verify", url]] {
            let refused = try await Program.run(command, in: scratch)
            #expect(
                refused.status == 77 && refused.errors.contains("hint: set PACKHORSE_CATALOG_TOKEN"),
                "\(refused.errors)"
            )
            let wrong = try await Program.run(
                command, environment: ["PACKHORSE_CATALOG_TOKEN": "two words"], in: scratch)
            #expect(wrong.status == 78 && wrong.errors.contains("has a space"), "\(wrong.errors)")
            let taken = try await Program.run(command, environment: ["PACKHORSE_CATALOG_TOKEN": token], in: scratch)
            #expect(taken.status == 0, "\(command): \(taken.errors)")
        }
        let file = try await Device.file("LI", in: scratch.url("maps"), scratch)
        #expect(try Data(contentsOf: file) == Data(contentsOf: scratch.url("catalog/packages/1/LI.mbtiles")))
        try await gateway.stop()
    }

    /// A private gateway whose catalog has one package.
    private func start(in scratch: Scratch) async throws -> (url: String, token: String, gateway: Daemon) {
        let demo = try await DemoOrigin(in: scratch)
        let (file, catalog, tokens) = (scratch.url("li.mbtiles"), scratch.url("catalog"), scratch.url("tokens"))
        for folder in [catalog, tokens] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        try Data(#"{"packages": []}"#.utf8).write(to: catalog.appending(path: "packages.json"))
        for command in [
            ["build", "LI", "--tileset", demo.tileset, "--zoom", "0-7", "-o", file.path],
            ["catalog", "import", catalog.path, file.path, "--id", "LI", "--tileset", "demo", "--rewrite"],
        ] {
            let outcome = try await Program.run(command, in: scratch)
            #expect(outcome.status == 0, "\(command): \(outcome.errors)")
        }
        let printed = try await Program.run(
            ["keygen", tokens.appending(path: "app.token").path, "--role", "client"], in: scratch)
        let token = try #require(printed.output.split(separator: "\n").first { $0.hasPrefix("ph_") }.map(String.init))
        let gateway = try Daemon(
            ["gateway", catalog.path, "--port", "0", "--tokens", tokens.path, "--private"], in: scratch)
        let url = try await Eventually.get("the gateway serves") {
            let text = try String(contentsOf: gateway.output, encoding: .utf8)
            return text.split(separator: "\n").first { $0.hasPrefix("http://") }.map(String.init)
        }
        return (url, token, gateway)
    }
}
