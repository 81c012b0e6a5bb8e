internal import Errors
package import Foundation
internal import PackageFiles
internal import Tiles

extension UntrustedBytes {
    /// A file of another program, as the store takes it: what it is, its tiles and regions, and some reads.
    ///
    /// The file is not copied: its bytes are what the call looks at.
    package static func file(_ url: URL) -> Verdict {
        var adopter = Adopter(
            folder: StoreFolder(url.deletingLastPathComponent()), way: .link, current: { _ in nil })
        do throws(StoreError) {
            // A style archive and a folder have decoders of their own.
            guard try !Adopter.isStyleArchive(url), [.mbtiles, .pmtiles, .maplibre].contains(try Adopter.kind(url))
            else { return .refused("bad-kind") }
            try adopter.add(url, as: nil)
        } catch { return .refused(error.failure.map { "\($0)" } ?? error.code.name) }
        for adopted in adopter.adopted {
            if let wrong = read(adopted, url.path) { return .wrong(wrong) }
        }
        return adopter.adopted.isEmpty ? .refused("nothing") : .accepted
    }

    /// Reads tiles that the mask claims, and one that it does not.
    private static func read(_ adopted: Adopted, _ path: String) -> String? {
        guard let mask = adopted.file.mask, let zooms = adopted.file.zooms else { return "a tile file has no mask" }
        let file = UnitFile(adopted.file, path: path, budget: HandleBudget())
        for tile in mask.tiles(in: zooms).prefix(16) {
            guard file.claims(tile) else { return "the mask does not claim its own tile \(tile)" }
            // A damaged page is an error of this read alone.
            _ = try? file.find(tile)
        }
        // A damaged page is an error of this read alone.
        _ = try? file.find(.root)
        _ = try? file.find(adopted.file.template ?? "")
        for region in adopted.regions {
            // The verdict names the failure.
            guard (try? JSONEncoder().encode(region.definition)) != nil else { return "a region cannot be stored" }
        }
        return nil
    }

    /// The JSON of a region in a MapLibre database: what is stored of it is read back.
    package static func region(_ bytes: [UInt8]) -> Verdict {
        guard let definition = MapLibreRegions.definition(bytes) else { return .refused("bad-region") }
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let stored = try encoder.encode(definition)
            let again = try encoder.encode(try JSONDecoder().decode(RegionDefinition.self, from: stored))
            return again == stored ? .accepted : .wrong("another region came back")
        } catch { return .wrong("an accepted region cannot be stored: \(error)") }
    }

    /// The address of a source in a MapLibre database, and an address that a renderer asks for, with a zero byte between.
    package static func template(_ bytes: [UInt8]) -> Verdict {
        let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let template = TileTemplate(String(decoding: parts[0], as: UTF8.self)) else {
            return .refused("bad-template")
        }
        guard let tile = template.tile(String(decoding: parts[1], as: UTF8.self)) else { return .refused("other") }
        return template.tile(template.address(of: tile)) == tile ? .accepted : .wrong("another tile came back")
    }
}
