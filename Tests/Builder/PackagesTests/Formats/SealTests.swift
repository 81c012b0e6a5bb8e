import Files
import Foundation
import GRDB
import PackageFiles
import Packages
import TestSupport
import Testing
import Tiles

@testable import enum PackageFiles.SealPosition

struct SealTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    /// So much metadata that its table is a tree of pages; the seal is still its first row.
    @Test func theSealIsFoundHoweverMuchMetadataThereIs() throws {
        let world = try World(zooms: "0-8")
        var metadata = try world.spec.metadata
        for number in 0..<300 {
            metadata.extra["row \(number)"] = String(repeating: "packhorse_seal ", count: 1 + number % 90)
        }
        let spec = PackageSpec(id: "demo", mask: world.mask, zooms: world.zooms, metadata: metadata)
        let url = scratch.file("a.mbtiles")
        _ = try MBTilesMerge.run(spec, shards: try world.shards(2, in: scratch, seed: 1), into: url)
        let report = try PackageVerify.run(url)
        #expect(report.isVerified && report.seal == .valid, "\(report.problems)")
        let pmtiles = scratch.file("a.pmtiles")
        _ = try PackageExport.write(from: url, format: .pmtiles, to: pmtiles)
        let other = try PackageVerify.run(pmtiles)
        #expect(other.isVerified && other.seal == .valid, "\(other.problems)")
    }

    /// SQLite's file format, section 1.3: the page count at 28 is believed only while 92 repeats the change counter at 24.
    @Test func theHeaderDoesNotSayWhichLibraryWroteTheFile() throws {
        let merged = try Merged()
        let content = try bytes(merged.url)
        #expect(Array(content[96..<100]) == [0, 0x2D, 0xE2, 0x18])
        #expect(content[24..<28].elementsEqual(content[92..<96]))
        let pages = try DatabaseQueue(path: merged.url.path).read { try Int.fetchOne($0, sql: "PRAGMA page_count") }
        #expect(pages == content.count / 4_096)
        #expect(content[28..<32].reduce(0) { $0 << 8 | Int($1) } == pages)
    }

    @Test func aFileThatAnotherProgramRewroteSaysSo() throws {
        let merged = try Merged()
        let queue = try DatabaseQueue(path: merged.url.path)
        try queue.write { try $0.execute(sql: "UPDATE metadata SET value = 'else' WHERE name = 'description'") }
        try queue.write { try $0.execute(sql: "INSERT INTO metadata VALUES ('note', 'x')") }
        try queue.close()
        let report = try PackageVerify.run(merged.url)
        #expect(report.seal == .broken && report.problems.map(\.code) == ["seal-broken"])
        try DatabaseQueue(path: merged.url.path).write {
            try $0.execute(sql: "DELETE FROM metadata WHERE name = 'packhorse_seal'")
        }
        let bare = try PackageVerify.run(merged.url)
        #expect(bare.isVerified && bare.seal == .none, "\(bare.problems)")
    }

    /// What another version of SQLite would leave there must not be in the file: between the list of cells and the cells of a
    /// page, every byte is zero.
    @Test(arguments: [PackageFormat.mbtiles, .mbtilesFlat, .mbtilesNormalized])
    func pagesHaveNoLeftovers(format: PackageFormat) throws {
        let merged = try Merged(padding: 40)
        let content = try bytes(try merged.export(format).url)
        let roots = try DatabaseQueue(path: merged.scratch.file("out" + format.fileExtension).path).read {
            try Int.fetchAll($0, sql: "SELECT rootpage FROM sqlite_schema WHERE rootpage > 0")
        }
        var pages = roots
        var gaps = 0
        while let number = pages.popLast() {
            let page = Array(content[(number - 1) * 4_096..<number * 4_096])
            func big(_ place: Int, _ count: Int) -> Int { page[place..<place + count].reduce(0) { $0 << 8 | Int($1) } }
            let isInterior = page[0] < 10
            let list = isInterior ? 12 : 8
            let end = list + 2 * big(3, 2)
            if isInterior {
                pages += (0..<big(3, 2)).map { big(big(list + 2 * $0, 2), 4) } + [big(8, 4)]
            }
            gaps += big(5, 2) - end
            #expect(page[end..<big(5, 2)].allSatisfy { $0 == 0 }, "page \(number)")
        }
        #expect(gaps > 0)
    }

    /// The walk to the seal meets pages of any content.
    @Test func noPageMakesTheWalkTrap() throws {
        let merged = try Merged()
        let content = try bytes(merged.url)
        let file = scratch.file("x")
        var random = SplitMix(state: 3)
        var found = 0
        for _ in 0..<3_000 {
            var copy = Array(content[..<12_288])
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place =
                    [16, 17, 4_096, 4_099, 4_100, 4_104, 4_105, 4_108, 4_109].randomElement(using: &random) ?? 0
                copy[place] = [0, 1, 2, 5, 13, 0x7F, 0xFF].randomElement(using: &random) ?? 0
            }
            try Data(copy.prefix(Int.random(in: 0...12_288, using: &random))).write(to: file)
            let root = [0, 1, 2, 3, Int.max, -1].randomElement(using: &random) ?? 2
            if SealPosition.find(in: try FileDescriptor(reading: file), rootPage: root) != nil { found += 1 }
        }
        #expect(found < 3_000)
    }
}
