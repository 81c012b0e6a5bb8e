import Digests
import Errors
import Files
import Foundation
import Testing

@testable import Catalog
@testable import CatalogFormat

/// The absolute addresses in `packages.json`.
struct AddressTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func open(_ base: String?, key: CatalogSecretKey? = nil) throws -> Catalog {
        try Catalog(scratch.file("catalog"), create: true, baseURL: base, signingKey: key, keepVersions: 3)
    }

    private func addresses(_ path: String = "packages.json") throws -> [String] {
        try Catalog.entries(
            decoding: Array(try Data(contentsOf: scratch.file("catalog/\(path)"))), named: path
        ).flatMap { [$0.url] + $0.files.map(\.url) + $0.patches.map(\.url) }
    }

    private func fill(_ catalog: Catalog) throws {
        var request = try scratch.request("EE", "one")
        request.files = [try scratch.other("pmtiles", "pm")]
        _ = try catalog.publish(request)
        var german = try scratch.request("EE", "eins")
        german.options.edition = try CatalogEdition(language: "de")
        _ = try catalog.publish(german)
    }

    @Test func anotherAddressIsInTheListsFromTheStartOn() throws {
        let key = CatalogSecretKey()
        try fill(try open("http://localhost:7480", key: key))
        let before = try scratch.text("catalog/catalog.json")
        let catalog = try open("https://maps.example/offline", key: key)
        #expect(
            try addresses() == [
                "https://maps.example/offline/packages/1/EE.mbtiles",
                "https://maps.example/offline/packages/1/EE.pmtiles",
            ])
        #expect(try addresses("de/packages.json") == ["https://maps.example/offline/de/packages/1/EE.mbtiles"])
        // The index holds the digests of these lists, and is signed.
        let document = Array(try scratch.text("catalog/catalog.json").utf8)
        let index = try CatalogIndex(decoding: document)
        for edition in index.editions {
            let list = try Data(contentsOf: scratch.file("catalog/\(edition.list.url)"))
            #expect(edition.list.sha256 == Digest(of: list).hex && edition.list.size == Int64(list.count))
        }
        let signature = try CatalogSignature(
            decoding: Array(try Data(contentsOf: scratch.file("catalog/catalog.json.sig"))))
        #expect(throws: Never.self) { try signature.check(document, by: try key.publicKey) }
        #expect(throws: Never.self) { try signature.check(Array(before.utf8), by: try key.publicKey) }
        #expect(try catalog.verify().isVerified)
        #expect(index.sequence == (try CatalogIndex(decoding: Array(before.utf8))).sequence, "no package is new")
        // Nothing is written a second time.
        let stamp = try #require(FileStamp(path: scratch.file("catalog/packages.json").path))
        _ = try open("https://maps.example/offline/", key: key)
        #expect(FileStamp(path: scratch.file("catalog/packages.json").path) == stamp)
    }

    @Test func withoutAnAddressTheListsKeepTheirs() throws {
        #expect(try open(nil).baseURL == Catalog.defaultBaseURL)
        var german = try scratch.request("EE", "eins")
        german.options.edition = try CatalogEdition(language: "de")
        _ = try open("https://maps.example/a/").publish(german)
        // The main list has no package; the list of the other edition has it.
        #expect(try open(nil).baseURL == "https://maps.example/a/")
        _ = try open(nil).publish(try scratch.request("LV", "two"))
        #expect(try addresses() == ["https://maps.example/a/packages/1/LV.mbtiles"])
    }

    @Test(arguments: [
        "maps.example", "ftp://maps.example/", "https://", "https://a b/", "https://a/?x", "https://u@a/",
    ])
    func noAddressIsRefused(_ base: String) throws {
        let error = #expect(throws: CatalogError.self) { try open(base) }
        #expect(error?.code == .badRequest && error?.message.contains("https://maps.example.com/offline/") == true)
    }

    @Test func addressesOfThisMachineAreKnown() {
        for address in [
            "http://localhost:7480/", "http://LOCALHOST/", "https://127.0.0.1/", "http://127.1.2.3:80/x",
            "http://[::1]:7/",
            "http://x.localhost/", "http://0.0.0.0:7480/",
        ] { #expect(Catalog.isLoopback(address), "\(address)") }
        for address in [
            "https://maps.example/", "http://192.168.1.2/", "http://localhost.example/", "http://128.0.0.1/",
        ] {
            #expect(!Catalog.isLoopback(address), "\(address)")
        }
    }
}
