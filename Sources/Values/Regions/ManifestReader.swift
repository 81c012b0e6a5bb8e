/// Reads regions.json as `ops/regions/build` writes it, in a tenth of the time that a general decoder takes: every command that
/// names a region waits for it.
///
/// JSON without escapes and with the members that the format has; anything else is damage. Never traps.
struct ManifestReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Reads the whole list.
    ///
    /// - Throws: ``RegionsError`` `.badResource`.
    static func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(RegionsError) -> RegionManifest {
        var reader = ManifestReader(bytes)
        var format = 0
        var languages: [String] = []
        var nodes: [RegionManifest.Node] = []
        try reader.object { (reader, member) throws(RegionsError) in
            switch member {
            case "format": format = Int(exactly: try reader.number()) ?? 0
            case "languages": languages = try reader.list(of: Self.string)
            case "nodes": nodes = try reader.list(of: Self.node)
            default: throw reader.damage("a member '\(member)'")
            }
        }
        reader.skipSpace()
        guard reader.position == bytes.count else { throw reader.damage("text after its end") }
        return RegionManifest(format: format, languages: languages, nodes: nodes)
    }

    private static func node(_ reader: inout ManifestReader) throws(RegionsError) -> RegionManifest.Node {
        var node = RegionManifest.Node()
        try reader.object { (reader, member) throws(RegionsError) in
            switch member {
            case "id": node.id = try reader.string()
            case "kind": node.kind = try reader.string()
            case "parent": node.parent = try reader.string()
            case "also": node.also = try reader.list(of: Self.string)
            case "alpha3": node.alpha3 = try reader.string()
            case "numeric": node.numeric = try reader.string()
            case "bounds": node.bounds = try reader.list(of: Self.number)
            case "boxes":
                node.boxes = try reader.list { (reader) throws(RegionsError) in try reader.list(of: Self.number) }
            case "names": node.names = try reader.texts(between: "|")
            case "aliases": node.aliases = try reader.list(of: Self.string)
            default: throw reader.damage("a member '\(member)'")
            }
        }
        return node
    }

    private static func string(_ reader: inout ManifestReader) throws(RegionsError) -> String { try reader.string() }

    private static func number(_ reader: inout ManifestReader) throws(RegionsError) -> Double { try reader.number() }

    // MARK: - JSON

    private func damage(_ found: String) -> RegionsError { .damaged("has \(found) at byte \(position) of its list") }

    private mutating func skipSpace() {
        while position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x0A { position += 1 }
    }

    /// Skips spaces and then one given byte, if present.
    private mutating func skip(_ byte: Unicode.Scalar) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ byte: Unicode.Scalar) throws(RegionsError) {
        guard skip(byte) else { throw damage("no '\(byte)'") }
    }

    private mutating func object(
        _ read: (inout ManifestReader, String) throws(RegionsError) -> Void
    ) throws(RegionsError) {
        try expect("{")
        if skip("}") { return }
        repeat {
            let member = try string()
            try expect(":")
            try read(&self, member)
        } while skip(",")
        try expect("}")
    }

    private mutating func list<Element>(
        of read: (inout ManifestReader) throws(RegionsError) -> Element
    ) throws(RegionsError) -> [Element] {
        try expect("[")
        var elements: [Element] = []
        if skip("]") { return elements }
        repeat { elements.append(try read(&self)) } while skip(",")
        try expect("]")
        return elements
    }

    private mutating func string() throws(RegionsError) -> String { String(decoding: try text(), as: UTF8.self) }

    /// The parts of a string that a byte divides; none of them is empty.
    private mutating func texts(between divider: Unicode.Scalar) throws(RegionsError) -> [String] {
        try text().split(separator: UInt8(ascii: divider)).map { String(decoding: $0, as: UTF8.self) }
    }

    private mutating func text() throws(RegionsError) -> Slice<UnsafeBufferPointer<UInt8>> {
        try expect("\"")
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            guard bytes[position] >= 0x20, bytes[position] != UInt8(ascii: "\\") else { throw damage("an escape") }
            position += 1
        }
        guard position < bytes.count else { throw damage("a text without an end") }
        defer { position += 1 }
        return bytes[start..<position]
    }

    /// A decimal fraction of at most 15 digits: an integer divided by a power of ten, both exact, so the result is the
    /// nearest double.
    private mutating func number() throws(RegionsError) -> Double {
        let isNegative = skip("-")
        var digits: Int64 = 0
        var count = 0
        var scale = 1.0
        var hasPoint = false
        while position < bytes.count {
            let byte = bytes[position]
            if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
                digits = digits * 10 + Int64(byte - UInt8(ascii: "0"))
                count += 1
                if hasPoint { scale *= 10 }
                guard count <= 15 else { throw damage("a number of more than 15 digits") }
            } else if byte == UInt8(ascii: "."), !hasPoint, count > 0 {
                hasPoint = true
            } else {
                break
            }
            position += 1
        }
        guard count > 0 else { throw damage("no number") }
        return Double(isNegative ? -digits : digits) / scale
    }
}
