import Digests
import Files
import Foundation
import TestSupport
import Testing
import Tiles

struct DigestTests {
    @Test func itIsSHA256() throws {
        // FIPS 180-4, the one-block example.
        let abc = Digest(of: Array("abc".utf8))
        #expect(abc.hex == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(Digest(hex: abc.hex.uppercased()) == abc && Digest(bytes: abc.bytes) == abc)
        #expect(Digest(hex: "ba78") == nil && Digest(bytes: [1, 2]) == nil)
        #expect(Digest(hex: String(repeating: "g", count: 64)) == nil)
    }

    @Test func everyKindOfBytesGivesTheSameDigest() throws {
        let bytes = (0..<34).map { UInt8(truncatingIfNeeded: 200 &+ 9 &* $0) }
        let slice = bytes[1..<33]
        let digest = try #require(Digest(bytes: slice))
        #expect(digest.bytes == Array(slice) && digest.hex == slice.map { String(format: "%02x", $0) }.joined())
        #expect(Digest(bytes: Array(slice)) == digest && Digest(bytes: Data(bytes)[1..<33]) == digest)
        #expect(bytes.withUnsafeBytes { Digest(bytes: UnsafeRawBufferPointer(rebasing: $0[1..<33])) } == digest)
        for wrong in [bytes[..<0], bytes[..<31], bytes[..<33]] {
            #expect(
                Digest(bytes: wrong) == nil && Digest(bytes: Array(wrong)) == nil && Digest(bytes: Data(wrong)) == nil)
            #expect(wrong.withUnsafeBytes { Digest(bytes: $0) } == nil)
        }
        let hashed = Digest(of: Array(slice))
        #expect(Digest(of: slice) == hashed && Digest(of: Data(slice)) == hashed)
    }

    @Test func aFileHashesLikeItsBytes() throws {
        let scratch = try Scratch()
        var random = SplitMix(state: 1)
        let content = random.bytes((1 << 20) + 77)
        try Data(content).write(to: scratch.file("a"))
        let found = try Digest.ofFile(scratch.file("a"))
        #expect(found.digest == Digest(of: content) && found.size == UInt64(content.count))
        #expect(throws: StorageError.self) { try Digest.ofFile(scratch.file("none")) }
        #expect(throws: StorageError.self) { try Digest.ofFile(scratch.folder) }
    }

    @Test func digestsSortByTheirBytes() {
        let digests = (0..<50).map { Digest(of: [UInt8($0)]) }
        #expect(digests.sorted().map(\.hex) == digests.map(\.hex).sorted())
    }
}
