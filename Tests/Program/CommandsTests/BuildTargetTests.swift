import ArgumentParser
import ClusterClient
import CommandSupport
import Foundation
import Packages
import Regions
import Testing

@testable import Commands

struct BuildTargetTests {
    private func format(_ output: String, _ formats: String...) throws -> [String] {
        var options = try OutputOptions.parse(formats.flatMap { ["--format", $0] })
        try BuildTarget(output).fill(&options)
        return options.formats
    }

    @Test func theExtensionSaysTheFormat() throws {
        #expect(try format("EE.mbtiles") == ["mbtiles"])
        #expect(try format("maps/EE.pmtiles") == ["pmtiles"])
        #expect(try format("EE.carto.mbtiles") == ["carto"])
        #expect(try format("EE.maplibre.db") == ["maplibre"])
        #expect(try format("EE.db") == ["maplibre"])
        #expect(try format("maps/") == [], "a folder says none")
        #expect(try format("maps") == [])
    }

    @Test func anOptionAndAnExtensionMustAgree() throws {
        #expect(try format("EE.mbtiles", "carto") == ["carto"], "any MBTiles may be called so")
        #expect(throws: CLIError.self) { try format("EE.mbtiles", "pmtiles") }
        #expect(throws: CLIError.self) { try format("EE.mbtiles", "mbtiles,pmtiles") }
        #expect(throws: CLIError.self) { try format("EE.rar") }
    }

    @Test func aNameWithoutExtensionIsAFileUnlessItIsAFolder() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "build-target-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (new, name) = (folder.path + "/new", folder.path + "/karte")
        func kind(_ option: String) throws -> String {
            switch try BuildTarget(option).place {
            case .file: "file"
            case .folder: "folder"
            case .name: "name"
            case .pipe: "pipe"
            }
        }
        #expect(try kind("-") == "pipe")
        #expect(try kind(folder.path) == "folder", "it exists")
        #expect(try kind(new + "/") == "folder")
        #expect(try kind(name) == "name")
        #expect(try kind(name + ".pmtiles") == "file")
        let tree = try RegionTree.embedded()
        let draft = try JobDraft.test([.region(try tree.find("LI"), in: tree)])
        var several = draft
        several.formats = [.mbtiles, .pmtiles]
        let target = try BuildTarget("karte")
        let file = try target.files([draft])
        #expect(file.map(\.name) == ["karte.mbtiles"])
        #expect(target.stateFolder(of: file).lastPathComponent == ".karte.mbtiles.packhorse")
        #expect(target.note(of: file)?.contains("the file is 'karte.mbtiles'; -o 'karte/' makes a folder") == true)
        let files = try target.files([several])
        #expect(files.map(\.name) == ["karte/LI.mbtiles", "karte/LI.pmtiles"])
        #expect(target.stateFolder(of: files).relativePath.hasPrefix("karte/.packhorse"))
        #expect(target.note(of: files) == "note: -o 'karte' becomes a folder for 2 files")
        #expect(try BuildTarget("karte.mbtiles").note(of: file) == nil)
    }

    @Test(arguments: [
        ("EE", "EE"), ("New Zealand", "'New Zealand'"), ("it's", #"'it'\''s'"#), ("a,b/c:1-2", "a,b/c:1-2"), ("", "''"),
        ("$HOME", "'$HOME'"), ("*.yaml", "'*.yaml'"),
    ])
    func wordsSurviveAShell(word: String, quoted: String) throws {
        #expect(ShellText.quoted(word) == quoted)
    }
}
