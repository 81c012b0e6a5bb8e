import Catalog
import CatalogFormat
import Digests
import Files
import Foundation
import TestSupport
import Testing
import Tiles

/// `catalog promote` and `catalog rollback`, killed at random times and repeated.
@Suite(.serialized, .timeLimit(.programs))
struct PromotionKillTests {
    private static let editions = ["", "de"]

    /// A staging catalog, and a live one with older packages of the same ids.
    private struct Catalogs {
        let scratch: Scratch
        let key: CatalogSecretKey
        let staging: URL
        let live: URL

        init(in scratch: Scratch) throws {
            self.scratch = scratch
            key = CatalogSecretKey()
            try key.write(to: scratch.url("catalog.key"))
            (staging, live) = (scratch.url("staging"), scratch.url("live"))
            let next = try Catalog(staging, create: true)
            let now = try Catalog(
                live, create: true, baseURL: "https://maps.example/", signingKey: key, keepVersions: 3)
            for language in PromotionKillTests.editions {
                let edition = try CatalogEdition(language: language.isEmpty ? nil : language)
                for number in 0..<12 {
                    try publish("P\(number)", "new \(number) \(edition)", edition, to: next)
                    // The others are added by the promotion, and withdrawn when it is undone.
                    if number < 10 { try publish("P\(number)", "old \(number) \(edition)", edition, to: now) }
                }
            }
        }

        private func publish(_ id: String, _ text: String, _ edition: CatalogEdition, to catalog: Catalog) throws {
            let bytes = Array(String(repeating: text, count: 2_000).utf8)
            let file = scratch.url("blob-\(UUID().uuidString)")
            try Data(bytes).write(to: file)
            var request = PublishRequest(
                id: id, file: file, digest: Digest(of: bytes), size: UInt64(bytes.count), maskWire: "QAAA:14",
                names: ["en": id], tilesHash: "D41D8CD98F00B204E9800998ECF8427E")
            request.options.edition = edition
            _ = try catalog.publish(request)
        }

        /// A copy of the live catalog for one attempt.
        func copy(_ name: String, of original: URL? = nil) throws -> URL {
            let folder = scratch.url(name)
            try FileManager.default.copyItem(at: original ?? live, to: folder)
            return folder
        }

        /// What clients read; the signature is checked.
        func proven(_ folder: URL) throws -> Data {
            let bytes = try Data(contentsOf: folder.appending(path: "catalog.json"))
            let signature = try Data(contentsOf: folder.appending(path: "catalog.json.sig"))
            try CatalogSignature(decoding: Array(signature)).check(Array(bytes), by: try key.publicKey)
            return bytes
        }

        func documents(_ folder: URL) throws -> [Data] {
            try ["catalog.json", "packages.json", "versions.json", "de/packages.json", "de/versions.json"].map {
                try Data(contentsOf: folder.appending(path: $0))
            }
        }
    }

    /// Kills a command at random times on copies of a catalog.
    ///
    /// - Parameters:
    ///   - start: The catalog that the command changes.
    private func killed(
        _ catalogs: Catalogs, start: URL, seed: UInt64, _ command: (URL) -> [String]
    ) async throws {
        let scratch = catalogs.scratch
        let key = ["--signing-key", scratch.url("catalog.key").path, "--patches-from", "0"]
        let whole = try catalogs.copy("whole-\(seed)", of: start)
        let calm = try await Program.run(command(whole) + key, in: scratch)
        try #require(calm.status == 0, "\(calm.errors)")
        let (old, new) = (try catalogs.proven(start), try catalogs.proven(whole))
        #expect(old != new)
        let expected = try catalogs.documents(whole)
        var random = SplitMix(state: seed)
        var interrupted = 0
        for attempt in 0..<30 {
            let folder = try catalogs.copy("copy-\(seed)-\(attempt)", of: start)
            let process = try Daemon(command(folder) + key, in: scratch)
            let share = Double(random.next() % 1_000) / 1_000
            try await Task.sleep(for: calm.duration * share)
            if process.isRunning {
                interrupted += 1
                try await process.killNow()
            }
            let seen = try catalogs.proven(folder)
            #expect(seen == old || seen == new, "seed \(seed), attempt \(attempt): neither the old nor the new catalog")
            let again = try await Program.run(command(folder) + key, in: scratch)
            #expect(again.status == 0, "\(again.errors)")
            #expect(try catalogs.documents(folder) == expected, "seed \(seed), attempt \(attempt)")
            #expect(try Catalog(folder, create: false).verify().isVerified)
            try FileManager.default.removeItem(at: folder)
        }
        #expect(interrupted > 0, "no attempt was killed")
    }

    @Test func aPromotionIsOldOrNewAndIsCompleted() async throws {
        let catalogs = try Catalogs(in: try Scratch())
        try await killed(catalogs, start: catalogs.live, seed: 1) {
            ["catalog", "promote", catalogs.staging.path, $0.path]
        }
    }

    @Test func aRollbackIsOldOrNewAndIsCompleted() async throws {
        let catalogs = try Catalogs(in: try Scratch())
        let promoted = try catalogs.copy("promoted")
        let done = try await Program.run(
            [
                "catalog", "promote", catalogs.staging.path, promoted.path, "--signing-key",
                catalogs.scratch.url("catalog.key").path, "--patches-from", "0",
            ], in: catalogs.scratch)
        try #require(done.status == 0, "\(done.errors)")
        try await killed(catalogs, start: promoted, seed: 2) { ["catalog", "rollback", $0.path] }
        try await killed(catalogs, start: promoted, seed: 3) {
            ["catalog", "rollback", $0.path, "P1", "P3", "--to", "1"]
        }
    }
}
