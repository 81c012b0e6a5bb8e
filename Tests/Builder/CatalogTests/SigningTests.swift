import Digests
import Errors
import Files
import Foundation
import Testing

@testable import Catalog
@testable import CatalogFormat

struct SigningTests {
    let scratch: Scratch
    let key = CatalogSecretKey()

    init() throws { scratch = try Scratch() }

    private func open(_ key: CatalogSecretKey?) throws -> Catalog {
        try Catalog(scratch.file("catalog"), create: true, baseURL: "https://maps.example/", signingKey: key)
    }

    private func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: scratch.file("catalog/\(name)")))
    }

    private func signature() throws -> CatalogSignature {
        try CatalogSignature(decoding: try bytes("catalog.json.sig"))
    }

    @Test func whoeverReadsDuringAChangeFindsASignature() throws {
        let catalog = try open(key)
        var seen = [try bytes("catalog.json")]
        for text in ["one", "two"] {
            _ = try catalog.publish(try scratch.request("EE", text))
            seen.append(try bytes("catalog.json"))
        }
        let signature = try signature()
        let open = try key.publicKey
        #expect(throws: Never.self) { try signature.check(seen[2], by: open) }
        // The reader who had the catalog before in hand.
        #expect(throws: Never.self) { try signature.check(seen[1], by: open) }
        #expect(throws: CatalogError.self) { try signature.check(seen[0], by: open) }
        #expect(signature.names(seen[2]) && !signature.names(seen[0]))
    }

    @Test func everyChangedByteIsFound() throws {
        _ = try open(key).publish(try scratch.request("EE", "one"))
        let (document, signature) = (try bytes("catalog.json"), try signature())
        let open = try key.publicKey
        for place in stride(from: 0, to: document.count, by: 7) {
            var changed = document
            changed[place] ^= 1
            let error = #expect(throws: CatalogError.self) { try signature.check(changed, by: open) }
            #expect(error?.code == .badSignature)
        }
        // The digest in the signature file is made to fit: the signature still does not.
        var changed = document
        changed[9] ^= 1
        let forged = try bytes("catalog.json.sig")
        let text = String(decoding: forged, as: UTF8.self).replacingOccurrences(
            of: Digest(of: document).hex, with: Digest(of: changed).hex)
        #expect(throws: CatalogError.self) {
            try CatalogSignature(decoding: Array(text.utf8)).check(changed, by: open)
        }
        let other = try CatalogSecretKey().publicKey
        let error = #expect(throws: CatalogError.self) { try signature.check(document, by: other) }
        #expect(error?.message.contains(other.id) == true)
        for text in ["", "{}", "[]", #"{"algorithm":"none","key_id":"x","signatures":[]}"#] {
            #expect(throws: CatalogError.self) { try CatalogSignature(decoding: Array(text.utf8)) }
        }
    }

    @Test func aSignedCatalogIsNotChangedWithoutAKey() throws {
        let unsigned = try open(nil)
        _ = try open(key).publish(try scratch.request("EE", "one"))
        let before = try bytes("catalog.json")
        for work in [
            { _ = try open(nil) }, { _ = try unsigned.publish(try scratch.request("EE", "two")) },
            { _ = try unsigned.prune(keep: 1, dryRun: false) },
        ] {
            let error = #expect(throws: CatalogError.self) { try work() }
            #expect(error?.code == .signingKey)
        }
        #expect(try bytes("catalog.json") == before)
        _ = try unsigned.prune(keep: 1, dryRun: true)
        // Another key takes over only where the signature was taken away on purpose.
        let next = CatalogSecretKey()
        let foreign = #expect(throws: CatalogError.self) { _ = try open(next) }
        #expect(foreign?.code == .signingKey)
        #expect(try bytes("catalog.json") == before)
        try FileManager.default.removeItem(at: scratch.file("catalog").appendingPathComponent("catalog.json.sig"))
        _ = try open(next)
        let shown = try next.publicKey
        #expect(throws: Never.self) { try signature().check(before, by: shown) }
        #expect(try signature().signatures.count == 1)
    }

    @Test func nothingIsWrittenWhenNothingChanges() throws {
        _ = try open(key).publish(try scratch.request("EE", "one"))
        func inode(_ name: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: scratch.file("catalog/\(name)").path)[.systemFileNumber]
                as? Int
        }
        let before = (try inode("catalog.json"), try inode("catalog.json.sig"))
        #expect(try open(key).publish(try scratch.request("EE", "one")).unchanged)
        #expect(try inode("catalog.json") == before.0)
        #expect(try inode("catalog.json.sig") == before.1)
    }

    @Test func keysAreFilesThatNobodyElseReads() throws {
        let file = scratch.file("catalog.key")
        try key.write(to: file)
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
        #expect(try CatalogSecretKey(file: file).publicKey == key.publicKey)
        #expect(throws: CatalogError.self, "never overwritten") { try CatalogSecretKey().write(to: file) }
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
        let error = #expect(throws: CatalogError.self) { try CatalogSecretKey(file: file) }
        #expect(error?.code == .keyPermissions)
        let open = scratch.file("catalog.pub")
        try key.publicKey.write(to: open)
        #expect(try CatalogPublicKey(file: open) == key.publicKey)
        #expect(try CatalogPublicKey("\(key.publicKey)") == key.publicKey)
        #expect(throws: CatalogError.self, "a secret key is none to show") { try CatalogPublicKey(file: file) }
        for text in ["", "ed25519-public:", "ed25519-public:AAAA", "x"] {
            #expect(throws: CatalogError.self) { try CatalogPublicKey(text) }
        }
        #expect(!"\(key)".contains("secret:") && !String(reflecting: key).contains("secret:"))
    }
}
