import Digests
import Files
import Foundation
import PackageFiles
import Packages
import TestSupport
import Testing
import TileBodies
import Tiles

/// Versions of a package as PMTiles, and patches made byte by byte as docs/formats/pmtiles-patch.md describes them.
struct PMTilesPatchFixture {
    let mbtiles: PatchFixture
    let old: URL

    init(padding: Int = 60) throws {
        mbtiles = try PatchFixture(padding: padding)
        old = mbtiles.scratch.file("old.pmtiles")
        _ = try PackageExport.write(from: mbtiles.old, format: .pmtiles, to: old)
    }

    func file(_ name: String) -> URL { mbtiles.scratch.file(name) }

    /// A package as PMTiles.
    func exported(_ package: URL) throws -> URL {
        let url = file("\(package.deletingPathExtension().lastPathComponent).pmtiles")
        _ = try PackageExport.write(from: package, format: .pmtiles, to: url)
        return url
    }

    /// A patch with a head, a script and literals of one's own, and right checksums.
    func patch(
        _ name: String, old: [UInt8], new: [UInt8], script: [UInt8], literals: [UInt8] = [], version: UInt64 = 1,
        newSize: UInt64? = nil, scriptSize: UInt64? = nil
    ) throws -> URL {
        let url = file(name)
        try Data(
            copyPatch(
                old: old, new: new, script: script, literals: literals, version: version, newSize: newSize,
                scriptSize: scriptSize)
        ).write(to: url)
        return url
    }
}

/// The bytes of a patch with a head, a script and literals of one's own, and right checksums.
func copyPatch(
    old: [UInt8], new: [UInt8], script: [UInt8], literals: [UInt8], version: UInt64, newSize: UInt64? = nil,
    scriptSize: UInt64? = nil
) -> [UInt8] {
    func little(_ value: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    var bytes = Array("PKHPATCH".utf8) + little(version) + little(UInt64(old.count))
    bytes += little(newSize ?? UInt64(new.count)) + little(scriptSize ?? UInt64(script.count))
    bytes += Digest(of: old).bytes + Digest(of: new).bytes + script + literals
    return bytes + Digest(of: bytes).bytes
}

/// Runs the applier that a document gives to others.
///
/// - Parameters:
///   - document: Its path below docs/formats.
///   - program: Where the program is written.
/// - Returns: Its exit code.
func runApplier(of document: String, as program: URL, patch: URL, old: URL, into target: URL) throws -> Int32 {
    let page = try String(
        contentsOf: Checkout.folder.appending(path: "docs/formats/\(document)"), encoding: .utf8)
    let start = try #require(page.range(of: "```python\n"))
    let end = try #require(page.range(of: "```", range: start.upperBound..<page.endIndex))
    try page[start.upperBound..<end.lowerBound].write(to: program, atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", program.path, patch.path, old.path, target.path]
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
}

/// A number as a varint.
func varint(_ value: UInt64) -> [UInt8] {
    var (rest, bytes) = (value, [UInt8]())
    while rest > 127 {
        bytes.append(UInt8(rest & 127) | 128)
        rest >>= 7
    }
    return bytes + [UInt8(rest)]
}
