internal import Digests
internal import Errors
internal import Files
internal import StateBackups

/// Parts of a backup of a coordinator's state.
extension FuzzTarget {
    /// A byte that selects the part, then the part: `i` an index, `c` an index without its checksum, `s` a segment, `n` the name of an index,
    /// `g` the name of a claim.
    static func backup(_ bytes: [UInt8]) -> Verdict {
        guard let first = bytes.first else { return .refused("short") }
        let part = Array(bytes.dropFirst())
        do throws(BackupError) {
            switch first {
            case UInt8(ascii: "i"): return same(try BackupIndex(decoding: part).encoded(), part)
            case UInt8(ascii: "c"):
                let whole = part + Digest(of: part).bytes
                return same(try BackupIndex(decoding: whole).encoded(), whole)
            case UInt8(ascii: "s"): return same(try PageSegment(decoding: part).encoded(), part)
            case UInt8(ascii: "n"):
                guard let name = BackupName(String(decoding: part, as: UTF8.self)) else { return .refused("bad-name") }
                return same(Array(name.description.utf8), part)
            case UInt8(ascii: "g"):
                guard let claim = PlaceClaim(String(decoding: part, as: UTF8.self)) else { return .refused("bad-name") }
                return same(Array(claim.description.utf8), part)
            default: return .refused("selector")
            }
        } catch {
            return .refused("\(error.code)")
        }
    }

    private static func same(_ again: [UInt8], _ bytes: [UInt8]) -> Verdict {
        again == bytes ? .accepted : .wrong("other bytes came back")
    }
}
