import Foundation
import TestSupport
import Testing

/// A place without a catalog: each kind of place has a hint that fits it.
struct MissingCatalogTests {
    private func check(
        _ arguments: [String], in scratch: Scratch, status: Int32, says: String, hint: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let outcome = try await Program.run(arguments, in: scratch)
        #expect(outcome.status == status, "\(arguments): \(outcome.errors)", sourceLocation: sourceLocation)
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.first?.contains(says) == true, "\(arguments): \(outcome.errors)", sourceLocation: sourceLocation)
        let hints = lines.filter { $0.hasPrefix("hint: ") }
        #expect(
            hints.count == 1 && hints[0].contains(hint), "\(arguments): \(outcome.errors)",
            sourceLocation: sourceLocation)
    }

    @Test(.timeLimit(.programs))
    func aFolderWithoutACatalogIsToldWhatIsMissing() async throws {
        let scratch = try Scratch()
        let (empty, half) = (scratch.url("empty"), scratch.url("half"))
        for folder in [empty, half] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        try Data(#"{"packages": []}"#.utf8).write(to: half.appending(path: "packages.json"))
        let install = ["device", "install", "EE", "--store", scratch.url("maps").path, "--catalog"]
        for command in [install + [empty.path], ["catalog", "verify", empty.path]] {
            try await check(
                command, in: scratch, status: 66, says: "no packages.json", hint: "coordinator's data folder")
        }
        try await check(
            install + [half.path], in: scratch, status: 66, says: "has no catalog.json",
            hint: "packhorse coordinator")
        try await check(
            ["catalog", "push", half.path, scratch.url("out").path], in: scratch, status: 66,
            says: "has no catalog.json", hint: "packhorse coordinator")
        try await check(
            install + [scratch.url("none").path], in: scratch, status: 66, says: "does not exist",
            hint: "give the folder of a catalog")
        #expect(!FileManager.default.fileExists(atPath: scratch.url("maps").path), "nothing is created")
    }

    @Test(.timeLimit(.programs))
    func aWrongAddressIsToldToBeOne() async throws {
        let scratch = try Scratch()
        let server = try ScriptedServer { _ in .reply(404) }
        defer { server.stop() }
        let address = "http://127.0.0.1:\(server.port)/maps/"
        let install = ["device", "install", "EE", "--store", scratch.url("maps").path, "--catalog"]
        for command in [install + [address], ["catalog", "verify", address]] {
            try await check(
                command, in: scratch, status: 66, says: "there is no catalog at '\(address)'", hint: "check the address"
            )
        }
        try await check(
            install + ["http://127.0.0.1:9/maps/"], in: scratch, status: 69,
            says: "the catalog at 'http://127.0.0.1:9/maps/' cannot be read", hint: "check the address")
        for command in [install, ["catalog", "verify"]] {
            try await check(
                command + ["http://someone:secret@127.0.0.1:9/maps/"], in: scratch, status: 64,
                says: "an address with a user or a password is not read", hint: "PACKHORSE_CATALOG_TOKEN")
        }
        try await check(
            install + ["maps.example.com/offline"], in: scratch, status: 66, says: "does not exist",
            hint: "https://maps.example.com/offline")
        try await check(
            install + ["ftp://maps.example.com/"], in: scratch, status: 64, says: "not the address of a web",
            hint: "http:// or https://")
        try await check(
            ["catalog", "verify", "s3://bucket/maps"], in: scratch, status: 64, says: "not the address of a web",
            hint: "at which the bucket is served")
        try await check(
            ["packs", "https://maps.example.com/"], in: scratch, status: 66, says: "does not exist",
            hint: "an address is not read here")
    }
}
