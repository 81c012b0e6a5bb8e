import Digests
import Errors
import Files
import Foundation
import GRDB
import PackageFiles
import TestSupport
import Testing

struct NewFileTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

    /// The same calls on a file in memory, on one that outgrows its memory, and on one on the disk.
    @Test(arguments: [0, 10, 25, 1_000]) func theBytesDoNotDependOnWhereTheyAre(limit: Int) throws {
        let url = scratch.file("a")
        let file = try NewFile(creating: url, inMemory: limit)
        try file.write([UInt8](repeating: 1, count: 10))
        try file.write([UInt8](repeating: 2, count: 10))
        try file.write([7, 8, 9], at: 4)
        #expect(file.size == 20)
        try file.truncate(to: 18)
        try file.write([3, 3])
        #expect(file.size == 20 && file.isInMemory == (limit >= 20) && exists(url) == (limit < 20))
        if file.isInMemory {
            #expect(try file.read(at: 3, count: 5) == [1, 7, 8, 9, 1])
            for (offset, count) in [(0, 21), (20, 1), (UInt64.max, 1), (0, -1)] as [(UInt64, Int)] {
                #expect(throws: StorageError.self) { try file.read(at: offset, count: count) }
            }
            #expect(throws: StorageError.self) { try file.write([1, 2], at: 19) }
        }
        try file.close()
        #expect(
            try bytes(url) == [1, 1, 1, 1, 7, 8, 9, 1, 1, 1] + [UInt8](repeating: 2, count: 8) + [3, 3])
    }

    @Test func aFileThatExistsIsNotOverwritten() throws {
        let url = scratch.file("a")
        try Data([1]).write(to: url)
        #expect(throws: StorageError.self) { try NewFile(creating: url) }
        let file = try NewFile(creating: url, inMemory: 10)
        try file.write([2])
        #expect(throws: StorageError.self) { try file.close() }
        #expect(try bytes(url) == [1])
    }

    /// Both ways of a file of rows; the bytes that SQLite reads back are those on the disk.
    @Test(arguments: [0, 4_096, 1 << 20]) func aPackageIsTheSameInMemoryAndOnTheDisk(memory: Int) throws {
        func write(_ url: URL, memory: Int) throws -> Digest {
            let check = { (count: Int, content: SealedContent) in
                let found = try PackageDatabase.reading(content) {
                    (
                        try Int.fetchOne($0, sql: "SELECT count(*) FROM tiles") ?? 0,
                        try String.fetchOne($0, sql: "PRAGMA integrity_check")
                    )
                }
                #expect(found.0 == count && found.1 == "ok")
                if case .bytes(let read, _) = content { #expect(try read == bytes(url)) }
            }
            return try BulkPackage.write(url, inMemory: memory, readBack: check) { package in
                for number in 1...300 {
                    let body = [UInt8](repeating: UInt8(number & 255), count: number * 7)
                    try package.add(body: body, number: UInt32(number))
                    try package.add(zoom: 9, column: number, row: 1, number: UInt32(number))
                }
                package.add(metadata: [("name", "x")])
                return 300
            }.1
        }
        let (one, other) = (scratch.file("a"), scratch.file("b"))
        let digest = try write(one, memory: memory)
        #expect(try digest == Digest.ofFile(one).digest)
        #expect(try write(other, memory: 0) == digest)
    }

    @Test func bytesThatAreNoDatabaseAreRefused() throws {
        for bytes in [[], [1], [UInt8](repeating: 0, count: 5_000), Array("SQLite format 3\0".utf8)] {
            #expect(throws: (any Error).self) {
                try PackageDatabase.reading(.bytes(bytes, path: "x")) {
                    try Int.fetchOne($0, sql: "SELECT count(*) FROM tiles")
                }
            }
        }
    }
}
