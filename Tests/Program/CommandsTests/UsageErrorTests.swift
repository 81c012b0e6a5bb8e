import ArgumentParser
import CommandSupport
import Errors
import Foundation
import Testing

@testable import Commands

/// What is said about options and words that the parser takes for something else.
struct UsageErrorTests {
    private func error(_ arguments: [String]) -> CLIError? {
        do { _ = try RootCommand.parseAsRoot(arguments) } catch { return UsageError.translated(error, arguments) }
        return nil
    }

    @Test(arguments: [
        (["--marge", "1km"], "--marge", "write --margin 5km; see 'packhorse help build'"),
        (["--magin", "1km"], "--magin", "did you mean '--margin'? See 'packhorse help build'"),
        (["--magin=1km"], "--magin", "did you mean '--margin'? See 'packhorse help build'"),
        (["--tilset", "tiles.yaml"], "--tilset", "did you mean '--tileset'? See 'packhorse help build'"),
        (["--xyzzy-xyzzy", "1"], "--xyzzy-xyzzy", "see 'packhorse help build'"),
    ])
    func anUnknownOptionIsNamedFirst(words: [String], option: String, hint: String) {
        // The word after the option looks like a region beside the route.
        let found = error(["build", "--route", "walk.gpx", "--tileset", "tiles.yaml"] + words)
        #expect(found?.message == "unknown option '\(option)'")
        #expect(found?.hint == hint)
        #expect(found?.status == .usage)
    }

    @Test func knownOptionsAndValuesAreNoUnknownOptions() {
        let both = error(["build", "EE", "--route", "walk.gpx", "--no-such", "--tileset", "t"])
        #expect(both?.message == "unknown option '--no-such'")
        for arguments in [
            ["build", "EE", "--route", "walk.gpx", "--force", "--tileset", "t"],
            ["build", "EE", "--route", "walk.gpx", "--", "--no-such"],
            ["jobs", "--limit", "0", "--json"], ["submit", "--zoom", "a", "--wait"],
        ] {
            let found = error(arguments)
            #expect(found?.message.contains("unknown option") == false, "\(arguments): \(found?.message ?? "none")")
        }
    }

    @Test func aNameThatNeedsQuotesIsNamed() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "usage-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "Käsmu Rundwanderung 2026-06-13.gpx").path
        try Data().write(to: URL(filePath: file))
        let words = file.split(separator: " ").map(String.init)
        for others in [[], ["EE"]] {
            let found = error(["build", "--tileset", "t"] + others + ["--route"] + words)
            #expect(
                found?.message
                    == "'Rundwanderung' was read as a region, but there is a file '\(file)': put its name in quotes, --route '\(file)'",
                "\(others)")
        }
        let other = error(["build", "--tileset", "t", "--route", "a", "b", "c.gpx"])
        #expect(other?.message.hasPrefix("'b' was read as a region, and --route 'a' is given too") == true)
        let box = error(["build", "--tileset", "t", "--route", "a", "bbox(1,2,3,4)"])
        #expect(box?.message.hasPrefix("give only one of: regions, a box") == true)
    }
}
