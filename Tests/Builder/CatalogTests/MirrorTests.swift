import Errors
import Files
import Foundation
import Testing

@testable import Catalog
@testable import CatalogFormat

/// The mirrors of a catalog.
struct MirrorTests {
    let scratch: Scratch
    let key = CatalogSecretKey()

    init() throws { scratch = try Scratch() }

    private func open() throws -> Catalog {
        try Catalog(scratch.file("catalog"), create: true, baseURL: "https://maps.example/", signingKey: key)
    }

    private func document() throws -> CatalogIndex {
        let bytes = [UInt8](try Data(contentsOf: scratch.file("catalog/catalog.json")))
        let signature = [UInt8](try Data(contentsOf: scratch.file("catalog/catalog.json.sig")))
        try CatalogSignature(decoding: signature).check(bytes, by: key.publicKey)
        return try CatalogIndex(decoding: bytes)
    }

    @Test func theyAreSignedAndStayOverPublications() throws {
        let catalog = try open()
        _ = try catalog.publish(try scratch.request("EE", "one"))
        let before = try document()
        #expect(before.mirrors == nil)
        #expect(try catalog.add(mirror: "https://b.example/offline").isNew)
        #expect(try catalog.add(mirror: "http://c.example:8080/x/catalog.json").mirrors.count == 2)
        #expect(try !catalog.add(mirror: "https://b.example/offline/").isNew)
        let named = ["https://b.example/offline/", "http://c.example:8080/x/"]
        #expect(try document().mirrors == named && document().sequence == before.sequence)
        _ = try catalog.publish(try scratch.request("EE", "two"))
        _ = try open().publish(try scratch.request("LV", "three"))
        #expect(try document().mirrors == named)
        #expect(try catalog.remove(mirror: "https://b.example/offline") == [named[1]])
        #expect(try document().mirrors == [named[1]])
        #expect(throws: CatalogError.self) { try catalog.remove(mirror: "https://b.example/offline") }
        #expect(try catalog.remove(mirror: named[1]) == [])
        #expect(try document().mirrors == nil)
    }

    @Test func aLeftOverListIsCompleted() throws {
        let catalog = try open()
        _ = try catalog.publish(try scratch.request("EE", "one"))
        // As a command that ended between both files.
        try Data(#"{"mirrors":["https://b.example/"]}"#.utf8).write(to: scratch.file("catalog/mirrors.json"))
        #expect(try !catalog.add(mirror: "https://b.example/").isNew)
        #expect(try document().mirrors == ["https://b.example/"])
    }

    @Test func whatClientsWouldRefuseIsRefused() throws {
        let catalog = try open()
        for wrong in [
            "", "/", "maps", "ftp://b.example/", "file:///srv/", "https:///x/", "https://user@b.example/",
            "https://user:word@b.example/", "https://b.example/?key=1", "https://b.example/#x",
            "https://b.example/a b/",
            "https://b.example/ä/", "https://b.example/../x/", "https://b.example/a/%2e%2E/", "https://b.example:0/",
            "https://b.example:99999/",
            "HTTPS://b.example/", "https://b.example/" + String(repeating: "x", count: 500),
        ] {
            let error = #expect(throws: CatalogError.self, "\(wrong)") { try catalog.add(mirror: wrong) }
            #expect(error?.code == .badRequest)
        }
        for number in 1...CatalogMirror.limit { try catalog.add(mirror: "https://m\(number).example/") }
        #expect(throws: CatalogError.self) { try catalog.add(mirror: "https://more.example/") }
        #expect(try document().mirrors?.count == CatalogMirror.limit)
        for wrong in [
            ["https://b.example"], ["https://b.example/", "https://b.example/"], ["https://u@b.example/"],
            (0...CatalogMirror.limit).map { "https://m\($0).example/" },
        ] {
            var index = try document()
            index.mirrors = wrong
            let bytes = try index.encoded()
            #expect(throws: CatalogError.self, "\(wrong)") { try CatalogIndex(decoding: bytes) }
        }
        try Data(#"{"mirrors":["ftp://b.example/"]}"#.utf8).write(to: scratch.file("catalog/mirrors.json"))
        #expect(throws: CatalogError.self) { try catalog.mirrors() }
    }

    @Test func aSignedCatalogNeedsItsKey() throws {
        _ = try open().publish(try scratch.request("EE", "one"))
        let other = try Catalog(scratch.file("catalog"), create: false)
        #expect(throws: CatalogError.self) { try other.add(mirror: "https://b.example/") }
        #expect(try document().mirrors == nil)
    }
}
