import Errors
import Foundation
import Testing
import Tilesets

/// A file that is not YAML: where, why and what to do, in our own words.
struct YAMLProblemTests {
    @Test(arguments: [("PMTiles\u{3}", "pmtiles"), ("SQLite format 3\0", "mbtiles")])
    func anArchiveIsNamedAsOne(start: String, scheme: String) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).tiles")
        try Data(start.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let error = #expect(throws: TilesetsError.self) { try TilesetFile.read(file) }
        #expect(
            error?.message.contains("is an archive of tiles") == true
                && error?.hint == "name it with its kind: \(scheme):\(file.path)")
    }

    @Test(arguments: [
        ("id: x\n\turl: y\n", "line 2, column 1: a tab stands where only spaces", "indent with spaces"),
        ("id: \"x\nurl: y\n", "line 1, column 5: the quotation mark here has no closing one", "closing quotation mark"),
        ("id: x\nurl: 'y\n", "line 2, column 6: the quotation mark here has no closing one", "closing quotation mark"),
        ("id: x\nurl: [a, b\nzoom: 3\n", "line 2, column 6: the list that begins here", "[a, b, c]"),
        ("id: x\nheaders: {a: b\nzoom: 3\n", "line 2, column 10: the mapping that begins here", "{a: 1, b: 2}"),
        ("id: x\nurl: {z}/{x}\n", "line 2, column 9: a key or an item", "in quotes"),
        ("id: x\nid: y\n", "line 2, column 1: a key is written more than once: 'id'", "keep one"),
        ("- id: a\n  url: x\n- id: b\n  url: x\n  url: y\n", "line 5, column 3: a key is written", "keep one"),
        ("url: x\nheaders:\n  url: y\n  b: |\n    url: z\nurl: a\n", "line 6, column 1: a key is written", "keep one"),
        ("a: {b: 1, b: 2}\n", "line 1, column 5: a key is written", "keep one"),
        ("id: x\nurl: y: z\n", "line 2, column 7: a colon stands where no key", "': ' in quotes"),
        ("id: x\n  url: y\n", "line 2, column 6: a colon stands where no key", "same column"),
        ("id: x\nurl: *foo\n", "line 2, column 6: '*' refers to a name", "in quotes"),
        ("id: x\nname: \u{1}\n", "line 2, column 7: a character that is not allowed", "plain text"),
        ("id: x\nname: @foo\n", "line 2, column 7: a text cannot begin with", "in quotes"),
        ("id: x\nname: \"a\\qb\"\n", "line 2, column 9: a backslash begins an unknown escape", "single quotes"),
        ("a: 1\n---\nb: 2\n", "line 2, column 1: a second document begins here", "remove the line '---'"),
        ("- a\nb: 2\n", "line 2, column 1: a key or an item of a list", "same column"),
        ("a: 1\nurl\nb: 2\n", "line 2, column 1: the line has no colon", "key: value"),
        ("url: [", "line 1, column 7: a value was expected", "close every '['"),
    ])
    func theFileIsNamedWithPlaceReasonAndRemedy(text: String, says: String, remedy: String) throws {
        let error = try #require(
            throws: TilesetsError.self,
            performing: { try TilesetFile(text: text, name: "t.yaml", folder: URL(filePath: "/")) })
        #expect(error.code == .badSyntax)
        #expect(error.message.hasPrefix("Tileset file 't.yaml' is not YAML: "), "\(error.message)")
        #expect(error.message.contains(says), "\(error.message)")
        #expect(error.hint?.contains(remedy) == true, "\(error.hint ?? "no hint")")
        for word in ["scanner", "parser", "while ", "context", "token", "composer"] {
            #expect(!error.message.contains(word), "words of the library: \(error.message)")
        }
    }

    @Test func linesEndWithEveryNewline() throws {
        let error = #expect(throws: TilesetsError.self) {
            try TilesetFile(text: "id: x\r\nname: \u{1}\r\n", name: "t.yaml", folder: URL(filePath: "/"))
        }
        #expect(error?.message.contains("line 2, column 7") == true, "\(error?.message ?? "")")
    }
}
