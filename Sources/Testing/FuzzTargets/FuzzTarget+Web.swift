internal import Digests
internal import WebRequests

/// What a client of the gateway sends, and the token files that name its roles.
extension FuzzTarget {
    /// The target of a request: escaped and read again, its segments are the same.
    static func request(_ bytes: [UInt8]) -> Verdict {
        let path = RequestPath(String(decoding: bytes, as: UTF8.self))
        guard let path else { return .refused("path") }
        for (name, _) in path.parameters { _ = path.parameter(name) }
        let escaped = path.segments.map(escape).joined(separator: "/")
        guard escaped.utf8.count < RequestPath.maxBytes else { return .accepted }
        return RequestPath("/" + escaped)?.segments == path.segments ? .accepted : .wrong("another path came back")
    }

    private static func escape(_ segment: String) -> String {
        segment.utf8.map { byte in
            let isPlain = (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
            return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// Two bytes for the size of a file, then a `Range` header: the ranges ascend, lie inside of the file, and are the
    /// same when they are written and read again.
    static func ranges(_ bytes: [UInt8]) -> Verdict {
        guard bytes.count >= 2 else { return .refused("short") }
        let size = UInt64(bytes[0]) << (bytes[1] % 57)
        let header = String(decoding: bytes[2...], as: UTF8.self)
        let set = RangeSet(header, size: size)
        let parts: [Range<UInt64>]
        switch set {
        case .whole: return .refused("whole")
        case .unsatisfiable: return .refused("unsatisfiable")
        case .one(let part): parts = [part]
        case .several(let several): parts = several
        }
        guard (1...RangeSet.maxRanges).contains(parts.count), !parts.contains(where: \.isEmpty),
            parts.last.map({ $0.upperBound <= size }) == true,
            Swift.zip(parts, parts.dropFirst()).allSatisfy({ $0.upperBound <= $1.lowerBound })
        else { return .wrong("a range is empty, outside of the file, or out of order") }
        let again = "bytes=" + parts.map { "\($0.lowerBound)-\($0.upperBound - 1)" }.joined(separator: ",")
        return RangeSet(again, size: size) == set ? .accepted : .wrong("other ranges came back")
    }

    /// A token file: what it says is the same when it is written and read again.
    static func token(_ bytes: [UInt8]) -> Verdict {
        do {
            let entry = try TokenEntry(file: String(decoding: bytes, as: UTF8.self), name: "name")
            return try TokenEntry(file: text(entry), name: "name") == entry
                ? .accepted : .wrong("another token came back")
        } catch {
            return .refused("token")
        }
    }

    private static func text(_ entry: TokenEntry) -> String {
        var lines = ["sha256: \(entry.digest.hex)", "roles: \(entry.roles.map(\.rawValue).joined(separator: ","))"]
        lines.append("rate: \(entry.rate)")
        if let count = entry.extractsPerDay { lines.append("extracts_per_day: \(count)") }
        if let count = entry.bytesPerDay { lines.append("bytes_per_day: \(count)") }
        if let ids = entry.tilesets { lines.append("tilesets: \(ids.joined(separator: " "))") }
        return lines.joined(separator: "\n")
    }
}
