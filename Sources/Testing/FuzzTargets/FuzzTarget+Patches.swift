internal import Digests
internal import Files
internal import Foundation
internal import PackageFiles

extension FuzzTarget {
    /// Applies the patch of a PMTiles archive, whose checksums are made to fit, so that the script sees every mutation.
    ///
    /// What is made has the size that the patch says, and a patch made of it gives it again. New files above 1 MB are not
    /// asked for: a few bytes can ask for any number of copies.
    static func patch(_ bytes: [UInt8]) -> Verdict {
        copies(bytes) { try Patch.make(old: $0, new: $1, into: $2) }
    }

    /// The same with the patch of a file of any kind; sections are unpacked.
    static func sections(_ bytes: [UInt8]) -> Verdict {
        copies(bytes) { try Patch.makeOpaque(old: $0, new: $1, into: $2) }
    }

    private static func copies(
        _ bytes: [UInt8], again make: (_ old: URL, _ new: URL, _ target: URL) throws -> PatchReceipt
    ) -> Verdict {
        guard bytes.count >= 2 else { return .refused("short") }
        let length = min(Int(bytes[0]) << 8 | Int(bytes[1]), bytes.count - 2)
        let old = Array(bytes[2..<2 + length])
        let patch = fitting(Array(bytes[(2 + length)...]), old)
        guard patch.starts(with: "PKHPATCH".utf8) else { return .refused("other") }
        let files = (0..<4).map { _ in scratch("patch") }
        defer { for file in files { unlink(file.path) } }
        let size = patch.count < 32 ? 0 : (24..<32).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64(patch[$1]) }
        guard size <= 1 << 20 else { return .refused("large") }
        do {
            try Data(old).write(to: files[0])
            try Data(patch).write(to: files[1])
        } catch { return .refused("scratch") }
        do {
            let made = try Patch.apply(files[1], to: files[0], into: files[2])
            guard made.size == size, try FileDescriptor(reading: files[2]).size == size else {
                return .wrong("\(made.size) bytes were made, and the patch says \(size)")
            }
            let again = try make(files[0], files[2], files[3])
            try Patch.apply(files[3], to: files[0], into: files[2], replacing: true, expecting: made.digest)
            return again.isExact ? .accepted : .wrong("another kind of patch came back")
        } catch let error as PackagesError where error.code == .verificationFailed {
            return .wrong("\(error)")
        } catch let error as PackagesError {
            return .refused("\(error.code)")
        } catch {
            return .wrong("\(error)")
        }
    }

    /// The patch with the digest of this old file in its head, and the right one at its end.
    private static func fitting(_ patch: [UInt8], _ old: [UInt8]) -> [UInt8] {
        var patch = patch
        if patch.count >= 72 { patch.replaceSubrange(40..<72, with: Digest(of: old).bytes) }
        return patch + Digest(of: patch).bytes
    }
}
