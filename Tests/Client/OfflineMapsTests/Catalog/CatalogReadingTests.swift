import CatalogFormat
import Digests
import Files
import Foundation
import Testing

@testable import OfflineMaps

/// Which catalogs a device accepts.
struct CatalogReadingTests {
    private let address = "https://maps.example.com/"

    private func signed(_ bytes: [UInt8], _ key: CatalogSecretKey) throws -> [UInt8] {
        let signature = try CatalogSignature(signing: bytes, Digest(of: bytes), with: key, earlier: nil)
        return [UInt8](try JSONEncoder().encode(signature))
    }

    private func failure(
        _ bytes: [UInt8], _ signature: [UInt8]? = nil, _ trust: Trust = .unsigned, known: KnownSequences = .init()
    ) -> FailureCause? {
        do throws(StoreError) {
            _ = try CatalogReading.read(bytes, signature: signature, trust: trust, address: address, known: known)
            return nil
        } catch { return error.failure ?? .internalError }
    }

    @Test func acceptsACatalogOfAnyOfItsKeys() throws {
        let (old, new) = (CatalogSecretKey(), CatalogSecretKey())
        let bytes = try CatalogSample.index().encoded()
        let trust = Trust.keys(["\(try old.publicKey)", "\(try new.publicKey)"])
        let read = try CatalogReading.read(
            bytes, signature: try signed(bytes, new), trust: trust, address: address, known: KnownSequences())
        #expect(read.key == (try new.publicKey.id))
        #expect(read.sequence == 7)
        #expect(read.content.offers.count == 5)
    }

    @Test func refusesWhatNoTrustedKeySigned() throws {
        let (key, other) = (CatalogSecretKey(), CatalogSecretKey())
        let bytes = try CatalogSample.index().encoded()
        let trust = Trust.keys(["\(try key.publicKey)"])
        #expect(failure(bytes, try signed(bytes, key), trust) == nil)
        #expect(failure(bytes, try signed(bytes, other), trust) == .badSignature)
        #expect(failure(bytes, nil, trust) == .badSignature)
        #expect(failure(bytes + [0x20], try signed(bytes, key), trust) == .badSignature)
        #expect(failure(bytes, Array("{}".utf8), trust) == .badSignature)
        #expect(failure(bytes, try signed(bytes, key), .keys([])) == .invalidArguments)
        #expect(failure(bytes, try signed(bytes, key), .keys(["ed25519-public:x"])) == .invalidArguments)
    }

    @Test func nothingIsDecodedBeforeTheSignatureIsRight() throws {
        let key = CatalogSecretKey()
        let trust = Trust.keys(["\(try key.publicKey)"])
        #expect(failure(Array("[]".utf8), Array("{}".utf8), trust) == .badSignature)
        #expect(failure(Array("[]".utf8), try signed(Array("[]".utf8), key), trust) == .badCatalog)
    }

    @Test func refusesOlderCatalogsByAddressAndByKey() throws {
        let key = CatalogSecretKey()
        let bytes = try CatalogSample.index(sequence: 7).encoded()
        let signature = try signed(bytes, key)
        let trust = Trust.keys(["\(try key.publicKey)"])
        for known in [
            KnownSequences(byAddress: [address: 8]), KnownSequences(byKey: [try key.publicKey.id: 8]),
        ] {
            #expect(failure(bytes, signature, trust, known: known) == .olderCatalog)
            #expect(
                throws: Never.self,
                performing: {
                    try CatalogReading.read(
                        bytes, signature: signature, trust: trust, address: address, known: known, allowOlder: true)
                })
        }
        #expect(failure(bytes, signature, trust, known: KnownSequences(byAddress: [address: 7])) == nil)
        #expect(failure(bytes, signature, trust, known: KnownSequences(byAddress: ["elsewhere": 9])) == nil)
        let without = try CatalogSample.index(sequence: nil).encoded()
        #expect(failure(without, known: KnownSequences(byAddress: [address: 0])) == .olderCatalog)
    }

    @Test(arguments: ["<html>", " \n<!DOCTYPE html>", "\u{FEFF}<html>"])
    func aWebPageCountsAsNoConnection(_ page: String) { #expect(failure(Array(page.utf8)) == .connection) }

    @Test(arguments: [
        ("\"url\":\"packages/2/EE.mbtiles\"", "\"url\":\"../../etc/passwd\""),
        ("\"url\":\"packages/2/EE.mbtiles\"", "\"url\":\"/etc/passwd\""),
        ("\"url\":\"packages/2/EE.mbtiles\"", "\"url\":\"https://evil.example.com/x\""),
        ("\"url\":\"packages/2/EE.mbtiles\"", "\"url\":\"packages/.hidden/x\""),
        ("\"size\":500", "\"size\":0"), ("\"size\":500", "\"size\":-1"), ("\"size\":500", "\"size\":2000000000000"),
        ("\"size\":500", "\"size\":1e400"), ("\"min_zoom\":0", "\"min_zoom\":13"),
        ("\"min_zoom\":0", "\"min_zoom\":-5"), ("\"min_zoom\":0,", ""), ("\"parent\":\"001\"", "\"parent\":\"150\""),
        ("\"parent\":\"001\"", "\"parent\":\"LV\""), ("\"parent\":\"001\"", "\"parent\":\"nowhere\""),
        ("\"tile_mask\":\"", "\"tile_mask\":\"!"), ("\"tile_mask\":\"", "\"tile_mask\":\"////"),
        ("\"id\":\"tallinn\"", "\"id\":\"..\""), ("\"en\":\"Tallinn\"", "\"en\":\"a\\u001fb\""),
        ("\"version\":2", "\"version\":0"), ("{", "{{"),
    ])
    func refusesHostileCatalogs(_ old: String, _ new: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(CatalogSample.index()), as: UTF8.self)
        #expect(failure(Array(text.utf8)) == nil)
        let changed = try #require(text.range(of: old).map { text.replacingCharacters(in: $0, with: new) })
        #expect(failure(Array(changed.utf8)) == .badCatalog)
    }

    @Test func cutCatalogsAreRefused() throws {
        let bytes = try CatalogSample.index().encoded()
        for length in stride(from: 0, to: bytes.count - 1, by: 97) {
            #expect(failure(Array(bytes.prefix(length))) == .badCatalog)
        }
    }
}
