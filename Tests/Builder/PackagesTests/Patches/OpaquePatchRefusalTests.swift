import Digests
import Files
import Foundation
import PackageFiles
import TestSupport
import Testing
import Tiles

/// Patches of files of any kind that must be refused, and leave the old file as it was.
struct OpaquePatchRefusalTests {
    private let scratch: Scratch
    private let old: URL
    private let right: [UInt8]

    init() throws {
        scratch = try Scratch()
        var random = SplitMix(state: 8)
        old = scratch.file("old")
        try Data(random.bytes(20_000)).write(to: old)
        var next = Array(try bytes(old).dropFirst(3_000))
        for place in stride(from: 500, to: 15_000, by: 60) { next[place] &+= 1 }
        try Data(next).write(to: scratch.file("new"))
        let patch = scratch.file("right.patch")
        let made = try Patch.makeOpaque(old: old, new: scratch.file("new"), into: patch)
        #expect(made.size < 2_500, "it is packed with what it was")
        right = try bytes(patch)
    }

    /// What becomes of a patch; it is applied in place, where a mistake would hurt most.
    private func code(_ patch: [UInt8], expecting: Digest? = nil, size: UInt64? = nil) throws -> PackagesError.Code? {
        let file = scratch.file("wrong.patch")
        try Data(patch).write(to: file)
        let before = try Digest.ofFile(old).digest
        do {
            try Patch.apply(file, to: old, into: old, replacing: true, expecting: expecting, size: size)
            return nil
        } catch let error as PackagesError {
            #expect(try Digest.ofFile(old).digest == before, "the old file was changed")
            #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).count == 4)
            return error.code
        }
    }

    private func body(_ patch: [UInt8]) -> [UInt8] { Array(patch.dropLast(32)) }

    @Test func damageIsFound() throws {
        for damage in FileDamage.cuts(right) + Array(FileDamage.flips(right, seed: 9)) {
            let code = try code(damage.bytes)
            // What does not begin as a patch of copies is taken for one of MBTiles.
            #expect(code == .badPatch || code == .badSource, "\(damage): \(code.map { "\($0)" } ?? "applied")")
        }
    }

    /// Damage with right checksums: the sections themselves are looked at.
    @Test func damageUnderRightChecksumsIsFoundOrDoesNoHarm() throws {
        let source = try bytes(old)
        for damage in FileDamage.flips(body(right), count: 400, seed: 10) {
            guard try code(damage.bytes + Digest(of: damage.bytes).bytes) == nil else { continue }
            // Another prefix can have the bytes that are copied from it: then the result is the right one.
            #expect(try bytes(old) == bytes(scratch.file("new")), "\(damage)")
            try Data(source).write(to: old)
        }
    }

    @Test func whatIsNotExpectedIsNotMade() throws {
        let new = try Digest.ofFile(scratch.file("new"))
        #expect(try code(right, expecting: Digest(of: [1])) == .verificationFailed)
        #expect(try code(right, expecting: new.digest, size: 1) == .verificationFailed)
        try Data([1, 2, 3]).write(to: scratch.file("other"))
        let error = #expect(throws: PackagesError.self) {
            try Patch.apply(
                scratch.file("right.patch"), to: scratch.file("other"), into: scratch.file("result"))
        }
        #expect(error?.code == .patchMismatch)
        try FileManager.default.removeItem(at: scratch.file("other"))
        #expect(try code(right, expecting: new.digest, size: new.size) == nil)
    }

    /// Sections whose numbers ask for what is not there, or for too much memory.
    @Test func hostileSectionsAreRefused() throws {
        let source = try bytes(old)
        let new = Array("a section".utf8)
        let step = varint(UInt64(new.count)) + varint(0)
        func made(_ sections: [UInt8]) -> [UInt8] {
            copyPatch(old: source, new: new, script: step, literals: sections, version: 2)
        }
        let whole = varint(9) + varint(0) + new
        let bad: [(name: String, sections: [UInt8])] = [
            ("no section", []), ("a section of 0 bytes", whole + varint(0) + varint(0)),
            ("2^64 - 1 bytes unpacked", varint(.max) + varint(0) + new),
            ("more than 4 MiB", varint(4 << 20 + 1) + varint(10) + varint(0) + new),
            ("as many packed as unpacked", varint(9) + varint(9) + varint(0) + new),
            ("2^64 - 1 bytes packed", varint(9) + varint(.max) + varint(0) + new),
            ("a prefix of 2^64 - 1", varint(9) + varint(5) + varint(.max) + varint(0) + new),
            ("a prefix of more than the file", varint(9) + varint(5) + varint(20_001) + varint(0) + new),
            ("a prefix beyond the end", varint(9) + varint(5) + varint(2) + varint(19_999) + new),
            ("a prefix at 2^64 - 1", varint(9) + varint(5) + varint(2) + varint(.max) + new),
            ("no frame", varint(9) + varint(5) + varint(0) + Array(new.prefix(5))),
            ("fewer bytes than it says", varint(9) + varint(0) + new.dropLast()),
            ("a byte too many", whole + varint(1) + varint(0) + [1]), ("an open varint", whole + [0x80]),
            ("a varint that is not the shortest", [0x89, 0] + varint(0) + new),
            (
                "20,000 sections that say 4 MiB",
                Array(repeatElement([0x80, 0x80, 0x80, 0x02, 1, 0, 0], count: 20_000).joined())
            ),
        ]
        for (name, sections) in bad { #expect(try code(made(sections)) == .badPatch, "\(name)") }
        let newer = copyPatch(old: source, new: new, script: step, literals: whole, version: 3)
        #expect(try code(newer) == .badPatch)
        #expect(try code(made(whole)) == nil)
        #expect(try bytes(old) == new)
    }
}
