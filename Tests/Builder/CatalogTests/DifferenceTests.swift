import Foundation
import Testing
import Tiles

@testable import Catalog
@testable import CatalogFormat

/// Two lists of packages, compared by what they hold.
struct DifferenceTests {
    private func entry(
        _ id: String, _ content: String, version: Int32 = 1, size: Int64 = 1_000, tiles: Int64? = 100,
        attribution: String? = "© A", formats: [String] = []
    ) -> CatalogEntry {
        CatalogEntry(
            id: id, version: version, size: size, url: "https://maps.example/packages/\(version)/\(id).mbtiles",
            tileMask: TileMask(full: 3).cartoWire, metainfo: ["name_en": id], sha256: content, tilesHash: content,
            attribution: attribution, tiles: tiles, minZoom: 0, maxZoom: 3,
            listedFiles: formats.isEmpty
                ? nil
                : formats.map {
                    CatalogEntry.File(format: $0, fileExtension: ".\($0)", url: "x", size: 1, sha256: "\(content)\($0)")
                })
    }

    private func compare(_ new: [CatalogEntry], _ old: [CatalogEntry]) -> CatalogDifference {
        CatalogDifference(new: [.main: new], old: [.main: old])
    }

    @Test func equalContentIsUnchangedWhateverItsVersionIs() {
        let difference = compare([entry("EE", "a", version: 1)], [entry("EE", "a", version: 7)])
        #expect(difference.packages.isEmpty && difference.unchanged == 1 && difference.shrinkage == 0)
        // What only the old one has in addition stays when the new one is published.
        #expect(compare([entry("EE", "a")], [entry("EE", "a", formats: ["pmtiles"])]).packages.isEmpty)
        let more = compare([entry("EE", "a", formats: ["pmtiles"])], [entry("EE", "a")])
        #expect(more.packages.map(\.change) == [.changed])
        let words = compare([entry("EE", "a", attribution: nil)], [entry("EE", "a")])
        #expect(words.packages.map(\.change) == [.changed])
        #expect(words.packages.first?.new?.attribution == nil && words.packages.first?.old?.attribution == "© A")
    }

    @Test func theLargestShrinkageComesFirst() {
        let difference = compare(
            [
                entry("AA", "1"), entry("BB", "2", size: 900), entry("CC", "3", tiles: 30),
                entry("DD", "4", size: 2_000),
                entry("NEW", "5"), entry("SAME", "6"),
            ],
            [
                entry("AA", "0"), entry("BB", "0"), entry("CC", "0"), entry("DD", "0"), entry("GONE", "0"),
                entry("SAME", "6"),
            ])
        #expect(difference.packages.map(\.id) == ["GONE", "CC", "BB", "AA", "DD", "NEW"])
        #expect(difference.packages.map(\.shrinkage) == [1, 0.7, 0.1, 0, 0, 0])
        #expect(difference.packages.map(\.change) == [.removed, .changed, .changed, .changed, .changed, .added])
        #expect(difference.unchanged == 1)
        // A package at the limit is not beyond it.
        #expect(difference.shrunk(beyond: 0.1).map(\.id) == ["GONE", "CC"])
        #expect(difference.shrunk(beyond: 0.05).map(\.id) == ["GONE", "CC", "BB"])
        #expect(difference.new.packages == 6 && difference.old.packages == 6)
        #expect(difference.old.bytes == 6_000 && difference.new.bytes == 6_900)
        #expect(difference.old.tiles == 600 && difference.new.tiles == 530)
        #expect(abs(difference.shrinkage - 70.0 / 600) < 1e-12)
    }

    /// A list of an earlier build has no numbers of tiles: then only bytes are compared.
    @Test func tilesAreComparedOnlyWhereBothKnowThem() {
        let difference = compare([entry("EE", "1", tiles: 1)], [entry("EE", "0", tiles: nil)])
        #expect(difference.packages.map(\.shrinkage) == [0] && difference.shrinkage == 0)
        #expect(difference.old.tiles == 0 && difference.new.tiles == 0)
    }

    @Test func numbersOfAHostileListAreBounded() {
        let difference = compare(
            [entry("AA", "1", size: .max, tiles: .max), entry("BB", "1", size: .max), entry("CC", "1", size: .max)],
            [entry("AA", "0", size: .min, tiles: .min)])
        #expect(difference.new.bytes == .max && difference.old.bytes == 0)
    }

    @Test func theBoundsAreThoseOfTheMask() throws {
        let content = try #require(compare([entry("EE", "1")], []).packages.first?.new)
        let bounds = try #require(content.bounds)
        #expect(bounds[0] == -180 && bounds[2] == 180 && bounds[1] < -85 && bounds[3] > 85)
        #expect((content.minZoom, content.maxZoom) == (0, 3))
        let encoded = try JSONEncoder().encode(content)
        #expect(try JSONDecoder().decode(CatalogDifference.Content.self, from: encoded) == content)
    }
}
