package import Digests
package import Files
package import Foundation

/// The seal of a PMTiles file: 48 bytes after everything that the header names; readers never request them.
///
/// "PKHSEAL1", the number of bytes before the seal (8 bytes, least significant first), and their SHA-256. The metadata
/// has a row that announces the seal, so that a damaged seal is not mistaken for a missing one.
package enum PMTilesSeal {
    package static let size: UInt64 = 48
    private static let mark = Array("PKHSEAL1".utf8)

    /// Appends the seal of everything written so far to a file in memory, or to one that was opened for changes.
    ///
    /// - Returns: The SHA-256 of the sealed file.
    package static func append(to file: NewFile) throws -> Digest {
        var (seal, whole) = try seal(of: file, count: file.size)
        try file.write(seal)
        whole.update(seal)
        return whole.finish()
    }

    /// The state of a file that has or must have a seal; reads all its bytes.
    static func state(of url: URL) throws -> VerifyReport.Seal {
        var report = VerifyReport(path: url.path, size: 0, kind: "PMTiles")
        try check(url, isPromised: true, &report)
        return report.seal
    }

    /// Whether the file has a seal, or its metadata announces one.
    package static func isThere(_ file: FileDescriptor, isPromised: Bool) throws -> Bool {
        if isPromised { return true }
        guard file.size >= size else { return false }
        return try file.read(at: file.size - size, count: mark.count) == mark
    }

    /// Says in the report whether the seal holds.
    package static func check(_ url: URL, isPromised: Bool, _ report: inout VerifyReport) throws {
        let file = try FileDescriptor(reading: url)
        guard try isThere(file, isPromised: isPromised) else { return }
        report.seal = .broken
        let found =
            file.size >= size ? try file.read(at: file.size - size, count: Int(size)) : []
        guard found.starts(with: mark) else {
            return report.add(
                "seal-broken", at: "file", because: "it does not end with the seal that its metadata announces")
        }
        let expected = try seal(of: file, count: file.size - size).bytes
        guard found == expected else {
            func hex(_ bytes: [UInt8]) -> String { Digest(bytes: bytes.suffix(32))?.hex ?? "" }
            return report.add(
                "seal-broken", at: "file", because: "its bytes hash to \(hex(expected)), its seal says \(hex(found))")
        }
        report.seal = .valid
    }

    /// The seal of a file's first bytes, and the state of the hash after them.
    private static func seal(of file: any SealableFile, count: UInt64) throws -> (bytes: [UInt8], hash: DigestHasher) {
        var hash = DigestHasher()
        var offset: UInt64 = 0
        while offset < count {
            let piece = try file.read(at: offset, count: Int(min(1 << 20, count - offset)))
            hash.update(piece)
            offset += UInt64(piece.count)
        }
        let length = (0..<8).map { UInt8(truncatingIfNeeded: count >> (8 * UInt64($0))) }
        return (mark + length + hash.finish().bytes, hash)
    }
}
