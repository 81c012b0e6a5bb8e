import ClusterClient
import Foundation
import Packages
import Testing

@testable import Commands

/// The ids and file names of areas that have a name of their own.
struct AreaNameTests {
    private static let hike = "Käsmu Rundwanderung 2026-06-13"

    @Test func idsAreReadableAndNeverTheSame() {
        for name in ["EE", "walk", "a-b_c.d", "bbox_1_2_3_4", "2026"] { #expect(Area.fileSafe(name) == name) }
        #expect(Area.fileSafe(Self.hike) == "Kasmu-Rundwanderung-2026-06-13-da62d74")
        for (name, start) in [
            ("Straße", "Strasse-"), ("Ærø", "Aero-"), ("Łódź", "Lodz-"), ("a & b", "a-_-b-"), ("\u{212a}", "K-"),
            ("Эстония", "________-"), (".hidden", "_.hidden-"), (" -rf", "_--rf-"), ("", "_-"),
            (String(repeating: "ß", count: 90), String(repeating: "s", count: 90) + "-"),
        ] {
            let id = Area.fileSafe(name)
            #expect(id.hasPrefix(start) && id.utf8.count > start.utf8.count, "\(name): \(id)")
            #expect(Area.fileSafe(id) == id, "an id stays as it is")
        }
        let names = [
            Self.hike, Self.hike.decomposedStringWithCanonicalMapping, "Kasmu Rundwanderung 2026-06-13",
            "Kasmu-Rundwanderung-2026-06-13", "Käsmu-Rundwanderung 2026-06-13",
        ]
        #expect(Set(names.map(Area.fileSafe)).count == names.count)
    }

    @Test func aWordThatIsNoIDGetsASuggestion() {
        #expect(Area.suggestedID(for: "käsmu") == "kasmu")
        #expect(Area.suggestedID(for: ".bal tics") == "bal-tics")
        #expect(Area.suggestedID(for: "Эстония") == nil)
        #expect(Area.suggestedID(for: "") == nil)
    }

    private static func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "area-names-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    private func files(_ names: [String], _ output: String?, renamed: String? = nil) throws -> [BuildOutput] {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        var areas: [Area] = []
        for name in names {
            let file = folder.appending(path: name)
            try Data("<gpx><rte><rtept lat='59.6' lon='25.9'/><rtept lat='59.61' lon='25.9'/></rte></gpx>".utf8)
                .write(to: file)
            let area = try AreaReader.file(file.path, AreaReader.FileWishes(isRoute: true))
            areas.append(renamed.map { area.renamed($0) } ?? area)
        }
        return try BuildTarget(output).files([.test(areas)])
    }

    @Test func filesAreCalledAsTheFileOfTheArea() throws {
        let made = try files(["\(Self.hike).gpx"], nil)
        #expect(made.map(\.name) == ["Käsmu-Rundwanderung-2026-06-13.mbtiles"])
        #expect(made.map(\.package) == ["Kasmu-Rundwanderung-2026-06-13-da62d74"])
        #expect(made[0].part(2, of: 2, mask: made[0].mask).name == "Käsmu-Rundwanderung-2026-06-13-2.mbtiles")
        #expect(try files(["\(Self.hike).gpx"], "maps/").map(\.name) == ["maps/Käsmu-Rundwanderung-2026-06-13.mbtiles"])
        #expect(try files(["\(Self.hike).gpx"], nil, renamed: "kasmu").map(\.name) == ["kasmu.mbtiles"])
        #expect(try files(["(walk) 1.gpx"], nil).map(\.name) == ["walk-1.mbtiles"])
        let bare = try files(["!.gpx"], nil)
        #expect(bare.map(\.stem) == bare.map(\.package), "nothing is left of the name")
        let same = try files(["a b.gpx", "A+b.gpx"], nil)
        #expect(same.map(\.stem) == same.map(\.package), "two would have the same name")
    }

    @Test func packagesAreCalledAsTheFileOfTheArea() throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "\(Self.hike).gpx")
        try Data("<gpx><rte><rtept lat='59.6' lon='25.9'/></rte></gpx>".utf8).write(to: file)
        let area = try AreaReader.file(file.path, AreaReader.FileWishes())
        #expect(area.names == ["en": Self.hike])
        let table = folder.appending(path: "huts.csv")
        try Data("lon,lat\n26.11,59.58\n25.66,59.47\n".utf8).write(to: table)
        #expect(try AreaReader.file(table.path, AreaReader.FileWishes()).names == ["en": "2 points of huts"])
    }
}
