import Catalog
import CatalogFormat
import CatalogTransfer
import CommandSupport
import Digests
import Errors
import Files
import Foundation
import TestSupport
import Testing

@testable import Commands

/// Where `packages.json` leads clients, and what is said when that is not where its files are.
struct CatalogAddressTests {
    /// A web server for the folder that is pushed to.
    private func serve(_ folder: URL) throws -> ScriptedServer {
        try ScriptedServer { request in
            guard request.path.hasPrefix("/maps/"),
                let bytes = try? Data(contentsOf: folder.appending(path: String(request.path.dropFirst(6))))
            else { return .reply(404) }
            return .reply(200, body: Array(bytes))
        }
    }

    private func push(_ shop: Shop, to target: URL, _ address: CatalogPush.Address? = nil) async throws
        -> CatalogPush.Report
    {
        let folder = shop.file("catalog")
        return try await CatalogPush(
            source: try CatalogSource(folder.path), folder: folder, target: FolderTarget(folder: target),
            address: address
        ).run(dryRun: false, prune: false) { _ in }
    }

    /// As CARTO's client does: the list, then each package at the address that the list gives it.
    private func fetchAsCARTO(_ list: String) async throws -> Int {
        let source = try CatalogSource(list)
        let entries = try Catalog.entries(
            decoding: try #require(try await source.read("packages.json")), named: "packages.json")
        for entry in entries {
            let file = try #require(URL(string: entry.url))
            let place = try CatalogSource(file.deletingLastPathComponent().absoluteString)
            let bytes = try #require(try await place.read(file.lastPathComponent), "\(entry.url)")
            #expect(Int64(bytes.count) == entry.size && Digest(of: bytes).hex == entry.sha256)
        }
        return entries.count
    }

    @Test func aPushWithAnAddressIsReadByCARTOsClient() async throws {
        let shop = try Shop()
        for version in 1...2 { try shop.publish("EE", UInt64(version)) }
        try shop.publish("LV", 3)
        try shop.publish("EE", 7, edition: try CatalogEdition(group: "terrain"))
        let target = shop.file("www")
        let server = try serve(target)
        defer { server.stop() }
        let address = "\(server.url)/maps/"
        let local = try Data(contentsOf: shop.file("catalog/packages.json"))
        let done = try await push(shop, to: target, .init(url: address, key: shop.key))
        // The server of the test is on this machine, which is worth a warning.
        #expect(done.warnings.isEmpty && done.sent.suffix(2) == ["catalog.json.sig", "catalog.json"])
        #expect(try await fetchAsCARTO(address) == 2)
        #expect(try await fetchAsCARTO(address + "groups/terrain/") == 1)
        // Everything is proven there, with the signature, and no address is amiss; the catalog itself is as it was.
        let check = try await CatalogCheck.run(try CatalogSource(address), key: try shop.key.publicKey)
        #expect(check.warnings.isEmpty && check.key != nil)
        #expect(try Data(contentsOf: shop.file("catalog/packages.json")) == local)
        // The next push replaces the previous one without a gap: its signature stays.
        let before = Array(try Data(contentsOf: target.appending(path: "catalog.json")))
        try shop.publish("LV", 4)
        _ = try await push(shop, to: target, .init(url: address, key: shop.key))
        let signature = try CatalogSignature(
            decoding: Array(try Data(contentsOf: target.appending(path: "catalog.json.sig"))))
        #expect(throws: Never.self) { try signature.check(before, by: try shop.key.publicKey) }
        #expect(try await fetchAsCARTO(address) == 2)
    }

    @Test func aSignedCatalogNeedsItsKeyForAnotherAddress() async throws {
        let shop = try Shop()
        try shop.publish("EE", 1)
        for key in [nil, CatalogSecretKey()] {
            let error = await #expect(throws: CatalogTransferError.self) {
                try await push(shop, to: shop.file("www"), .init(url: "https://maps.example/x/", key: key))
            }
            #expect(error?.exitStatus == .configuration && error?.message.contains("signed with key") == true)
            #expect(error?.hint?.contains("--signing-key") == true)
            #expect(!FileManager.default.fileExists(atPath: shop.file("www/packages").path), "nothing was sent")
        }
    }

    @Test func listsThatLeadElsewhereAreToldOf() async throws {
        let shop = try Shop()
        try shop.publish("EE", 1)
        // Behind another server than the one that the lists name.
        let check = try await CatalogCheck.run(try CatalogSource(try shop.address()))
        let warning = try #require(check.warnings.first)
        #expect(try warning.contains("https://maps.example/") && warning.contains(shop.address()))
        #expect(warning.contains("--catalog-url") && warning.contains("--url"))
        #expect(try await CatalogCheck.run(try CatalogSource(shop.file("catalog").path)).warnings.isEmpty)
        #expect(try await push(shop, to: shop.file("www")).warnings.isEmpty)
        #expect(
            try Data(contentsOf: shop.file("www/catalog.json.sig"))
                == Data(contentsOf: shop.file("catalog/catalog.json.sig")))
        // A catalog of this machine, pushed as it is.
        _ = try Catalog(
            shop.file("catalog"), create: true, baseURL: Catalog.defaultBaseURL, signingKey: shop.key)
        let pushed = try await push(shop, to: shop.file("www"))
        #expect(pushed.warnings.count == 1 && pushed.warnings.first?.contains("--url") == true)
    }
}
