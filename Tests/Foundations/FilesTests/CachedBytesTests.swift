import Foundation
import Testing

@testable import Files

/// Reads that never wait.
///
/// A file system that cannot tell what is in memory refuses all of them.
struct CachedBytesTests {
    @Test func whatIsReadIsWhatTheFileHas() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "cached-\(UUID().uuidString)")
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try Data(bytes).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let file = open(url.path, O_RDONLY)
        defer { close(file) }
        func read(at offset: UInt64, _ count: Int) -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: count)
            return buffer.withUnsafeMutableBytes { CachedBytes.read(file, at: offset, into: $0) } ? buffer : nil
        }
        for (offset, count) in [(0, 1), (0, 100_000), (99_999, 1), (4_000, 9_000)] {
            if let found = read(at: UInt64(offset), count) { #expect(found == Array(bytes[offset..<offset + count])) }
        }
        // Beyond the end, at no place of a file, and of no file.
        #expect(read(at: 99_999, 2) == nil && read(at: 100_000, 1) == nil && read(at: .max, 1) == nil)
        var one: [UInt8] = [0]
        #expect(!one.withUnsafeMutableBytes { CachedBytes.read(-1, at: 0, into: $0) })
        #expect(read(at: 0, 0) == [])
    }
}
