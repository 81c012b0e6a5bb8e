import Foundation
import Shards
import Testing

/// A shard is a legal LZ4 file: standard tools can test and unpack it.
struct ShardToolTests {
    private static let lz4 = "/usr/bin/lz4"
    static var hasTool: Bool { FileManager.default.isExecutableFile(atPath: lz4) }
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func run(_ arguments: [String], output: URL? = nil) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.lz4)
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    @Test(.enabled(if: hasTool, "the lz4 command line is not installed (Debian: apt-get install lz4)"))
    func theLZ4ToolAcceptsAShardAndNoDamagedOne() throws {
        let url = scratch.file("a.lz4")
        try write(try samples(600, bodyBytes: 1_500), to: url)
        #expect(try run(["-t", url.path]) == 0)
        var damaged = try bytes(url)
        damaged[damaged.count / 2] ^= 1
        try Data(damaged).write(to: scratch.file("b.lz4"))
        #expect(try run(["-t", scratch.file("b.lz4").path]) != 0)
    }

    @Test(.enabled(if: hasTool, "the lz4 command line is not installed (Debian: apt-get install lz4)"))
    func theLZ4ToolUnpacksTheBodiesInFileOrder() throws {
        let url = scratch.file("a.lz4")
        try write(try samples(600, bodyBytes: 1_500), to: url)
        #expect(try run(["-d", "-q", url.path, scratch.file("a").path]) == 0)
        let reader = try ShardReader(url)
        let bodies = try reader.bodies.flatMap { try reader.bytes(of: $0) }
        #expect(try bytes(scratch.file("a")).starts(with: bodies))
    }
}
