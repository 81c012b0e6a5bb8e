import CatalogFormat
import Digests
import Errors
import Foundation
import Testing

@testable import Catalog

/// Folders as tar archives.
struct CompanionArchiveTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func archive(_ folder: URL) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try CompanionArchive.write(folder) { (piece) throws(CatalogError) in bytes += piece }
        return bytes
    }

    private func folder(_ name: String, _ files: [String: [UInt8]]) throws -> URL {
        let folder = scratch.file(name)
        for (path, bytes) in files {
            let file = folder.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: file)
        }
        return folder
    }

    private static let files: [String: [UInt8]] = [
        "index.bin": Array("first".utf8), "2/000/000.gph": [UInt8](repeating: 7, count: 1_500_000),
        "0/003.gph": [], "b-ä.txt": [UInt8](repeating: 1, count: 512),
        String(repeating: "f", count: 90) + "/" + String(repeating: "n", count: 90): [1],
    ]

    @Test func equalFoldersGiveEqualBytes() throws {
        let one = try folder("one", Self.files)
        let two = try folder("two", Dictionary(uniqueKeysWithValues: Self.files.sorted { $0.key > $1.key }))
        try FileManager.default.createDirectory(at: two.appending(path: "empty"), withIntermediateDirectories: true)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000), .posixPermissions: 0o600],
            ofItemAtPath: two.appending(path: "index.bin").path)
        let bytes = try archive(one)
        #expect(try archive(two) == bytes && bytes.count % 512 == 0)
        try Data([2]).write(to: two.appending(path: "index.bin"))
        #expect(try archive(two) != bytes)
    }

    /// GNU tar reads what was written.
    @Test func tarUnpacksIt() throws {
        let one = try folder("one", Self.files)
        let file = scratch.file("one.tar")
        try Data(try archive(one)).write(to: file)
        let target = scratch.file("unpacked")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        let tar = Process()
        tar.executableURL = URL(filePath: "/usr/bin/tar")
        if !FileManager.default.isExecutableFile(atPath: "/usr/bin/tar") {
            tar.executableURL = URL(filePath: "/bin/tar")
        }
        tar.arguments = ["-xf", file.path, "-C", target.path]
        try tar.run()
        tar.waitUntilExit()
        #expect(tar.terminationStatus == 0)
        for (path, bytes) in Self.files {
            #expect(try Array(Data(contentsOf: target.appending(path: path))) == bytes, "\(path)")
        }
    }

    @Test func whatIsNoFileIsRefused() throws {
        func code(_ folder: URL) -> CatalogErrorCode? {
            do { _ = try archive(folder) } catch { return (error as? CatalogError)?.code }
            return nil
        }
        let linked = try folder("linked", ["a": [1]])
        try FileManager.default.createSymbolicLink(
            at: linked.appending(path: "b"), withDestinationURL: URL(filePath: "/etc/passwd"))
        #expect(code(linked) == .badRequest)
        #expect(code(try folder("long", [String(repeating: "x", count: 101): [1]])) == .badRequest)
        let empty = scratch.file("nothing")
        try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
        #expect(code(empty) == .badRequest)
        #expect(code(scratch.file("missing")) == .io)
    }
}
