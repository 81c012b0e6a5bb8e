import ArgumentParser
import CommandSupport
import Foundation
import Packages
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

    @Test(arguments: [
        ("EE", "EE"), ("New Zealand", "'New Zealand'"), ("it's", #"'it'\''s'"#), ("a,b/c:1-2", "a,b/c:1-2"), ("", "''"),
        ("$HOME", "'$HOME'"), ("*.yaml", "'*.yaml'"),
    ])
    func wordsSurviveAShell(word: String, quoted: String) throws {
        #expect(ShellText.quoted(word) == quoted)
    }
}
