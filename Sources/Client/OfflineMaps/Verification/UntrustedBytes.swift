internal import CatalogFormat
internal import Errors
internal import Files
internal import Foundation
internal import Tiles

/// The decoders of bytes that the library does not trust, each with what must be true of an accepted value.
///
/// For the fuzzer and its corpus; the library itself does not use it.
package enum UntrustedBytes {
    /// What became of some bytes.
    package enum Verdict: Hashable, Sendable {
        case accepted
        /// Why they were refused: a word in kebab-case.
        case refused(String)
        /// A bug: an accepted value contradicts itself.
        case wrong(String)
    }

    /// `catalog.json` without a signature: everything that a store keeps of it can be stored and read back.
    package static func catalog(_ bytes: [UInt8]) -> Verdict {
        let known = KnownSequences(byAddress: ["a": 3])
        let verified: VerifiedCatalog
        do throws(StoreError) {
            verified = try CatalogReading.read(
                bytes, signature: nil, trust: .unsigned, address: "a", known: known)
        } catch { return .refused(error.failure?.rawValue ?? error.code.name) }
        guard verified.sequence ?? -1 >= 3 else { return .wrong("an older catalog was accepted") }
        let content = verified.content
        for offer in content.offers.flatMap(\.pieces) + content.companions {
            guard offer.companion.map({ FieldText.companion(FieldText.write($0)) == $0 }) ?? true else {
                return .wrong("the companion of '\(offer.id)' is not stored as it is")
            }
            guard FieldText.names(FieldText.write(offer.names)) == offer.names else {
                return .wrong("the names of '\(offer.id)' are not stored as they are")
            }
            let files = offer.files + offer.patches + (offer.packs.map { [$0] } ?? [])
            guard FieldText.downloads(FieldText.write(files)) == files else {
                return .wrong("the files of '\(offer.id)' are not stored as they are")
            }
            guard files.allSatisfy({ CatalogIndex.isInside($0.url) && 1...1 << 40 ~= $0.size }) else {
                return .wrong("a file of '\(offer.id)' has an address or a size that is not allowed")
            }
        }
        guard FieldText.read(FieldText.write(content.mirrors.map { [$0] }), fields: 1) == content.mirrors.map({ [$0] }),
            content.mirrors.allSatisfy({ URL(string: $0)?.host()?.isEmpty == false })
        else { return .wrong("the mirrors are not stored as they are, or one has no host") }
        let catalog = MapCatalog(content, checkedAt: nil)
        var (left, count) = ([catalog.root], 0)
        while let node = left.popLast(), count < 10_000 {
            left += node.children
            count += 1
        }
        for offer in content.offers.prefix(10) {
            _ = catalog.search(String(offer.id.prefix(3)), language: "en")
            guard let tile = offer.mask.tiles(in: .all).first(where: { _ in true }) else { continue }
            guard
                catalog.packages(holding: tile).contains(where: { $0.id == offer.id })
                    || !(offer.zooms?.contains(tile.zoom) ?? true)
            else { return .wrong("'\(offer.id)' is not found by its own tile") }
        }
        return .accepted
    }

    /// `catalog.json.sig`: it is never valid for a document that the key did not sign.
    package static func signature(_ bytes: [UInt8]) -> Verdict {
        do throws(CatalogError) {
            let signature = try CatalogSignature(decoding: bytes)
            // The public key of RFC 8032, section 7.1, test 1.
            let key = try CatalogPublicKey("ed25519-public:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
            do throws(CatalogError) { try signature.check(Array("no document".utf8), by: key) } catch {
                return .accepted
            }
            return .wrong("a signature without a key was accepted")
        } catch { return .refused("\(error.code)") }
    }

    /// `packages.json`: its masks are masks or refused.
    package static func packages(_ bytes: [UInt8]) -> Verdict {
        let list: CatalogList
        do { list = try JSONDecoder().decode(CatalogList.self, from: Data(bytes)) } catch {
            return .refused("bad-list")
        }
        do {
            let again = try JSONDecoder().decode(CatalogList.self, from: Data(try CatalogJSON.encode(list, named: "")))
            return again == list ? .accepted : .wrong("another list came back")
        } catch { return .wrong("an accepted list cannot be written: \(error)") }
    }

    /// `regions/ID.json`: paths stay below the packs of its edition.
    package static func packList(_ bytes: [UInt8]) -> Verdict {
        let list: TilePackList
        do throws(CatalogError) { list = try TilePackList(decoding: bytes, named: "de/regions/EE.json") } catch {
            return .refused("bad-list")
        }
        for pack in list.packs {
            guard pack.path.hasPrefix("packs/"), CatalogIndex.isInside(pack.path) else {
                return .wrong("the pack '\(pack.path)' lies outside of its edition")
            }
            _ = pack.mask(in: TileMask(tiles: [.root], maxZoom: 6))
        }
        do throws(CatalogError) {
            let again = try TilePackList(decoding: try list.encoded(), named: "de/regions/EE.json")
            return again == list ? .accepted : .wrong("another list came back")
        } catch { return .wrong("an accepted list cannot be written: \(error.message)") }
    }

    /// `share.json`: what it says can be printed, and comes back the same.
    package static func share(_ bytes: [UInt8]) -> Verdict {
        guard let manifest = ShareManifest(decoding: Data(bytes)) else { return .refused("bad-share") }
        guard manifest.words.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
            return .wrong("the words of a share have control characters")
        }
        return ShareManifest(decoding: Data(manifest.encoded())) == manifest
            ? .accepted : .wrong("another one came back")
    }

    /// `unit.json`: a document that is accepted comes back the same, and its path stays in its folder.
    package static func unit(_ bytes: [UInt8]) -> Verdict {
        guard let document = InstalledFileDocument(decoding: bytes) else { return .refused("bad-unit") }
        let file = document.file
        guard Item(key: file.item.key) == file.item else { return .wrong("another item came back") }
        let folder = StoreFolder(URL(filePath: "/store"))
        if let url = folder.file("units/x/\(file.path)"), !url.path.utf8.starts(with: "/store/units/x/".utf8) {
            return .wrong("the file '\(file.path)' lies outside of its folder")
        }
        do throws(StorageError) {
            let back = InstalledFileDocument(
                decoding: try InstalledFileDocument(file, source: document.source).encoded())
            return back == document ? .accepted : .wrong("another document came back")
        } catch { return .wrong("an accepted document cannot be written: \(error)") }
    }
}
