import Errors
import Tiles

/// Reads well-known text and EWKT: one or more geometries, longitude before latitude, each a feature.
///
/// `SRID=4326;` is accepted before a geometry, every other number is refused. Z and M are read and left out.
struct WKTReader {
    private static let depthLimit = 32
    private static let words = [
        "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION",
    ]

    private let input: AreaInput
    private var geometry = Geometry()

    static func read(_ input: AreaInput, _ sink: inout AreaSink) throws(AreaFileError) {
        try input.beginText()
        while true {
            var reader = WKTReader(input: input)
            try reader.skipSpace()
            while try input.peek() == UInt8(ascii: ";") {
                _ = try input.next()
                try reader.skipSpace()
            }
            guard try input.peek() != nil else { return }
            let line = input.line
            try reader.whole()
            try sink.add(AreaFeature(geometry: reader.geometry), at: "line \(line)")
        }
    }

    /// Whether a text begins as this format does.
    static func begins(_ text: ArraySlice<UInt8>) -> Bool {
        let start = text.drop(while: NumberText.isSpace)
        let word = String(decoding: start.prefix { isLetter($0) }, as: UTF8.self).uppercased()
        let rest = start.dropFirst(word.utf8.count).drop(while: NumberText.isSpace)
        if word == "SRID" { return rest.first == UInt8(ascii: "=") }
        return (words + ["CURVEPOLYGON", "CIRCULARSTRING", "TIN", "POLYHEDRALSURFACE", "TRIANGLE"]).contains {
            word == $0 || word == $0 + "Z" || word == $0 + "M" || word == $0 + "ZM"
        } && rest.first.map { $0 == UInt8(ascii: "(") || isLetter($0) } ?? false
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    private func fault(_ what: String) -> AreaFileError { .line(input.line, what) }

    private func skipSpace() throws(AreaFileError) {
        while let byte = try input.peek(), NumberText.isSpace(byte) { _ = try input.next() }
    }

    private func word() throws(AreaFileError) -> String {
        try skipSpace()
        var bytes: [UInt8] = []
        while let byte = try input.peek(), Self.isLetter(byte), bytes.count < 40 {
            bytes.append(byte)
            _ = try input.next()
        }
        return String(decoding: bytes, as: UTF8.self).uppercased()
    }

    private func skip(_ byte: UInt8) throws(AreaFileError) -> Bool {
        try skipSpace()
        guard try input.peek() == byte else { return false }
        _ = try input.next()
        return true
    }

    private func need(_ byte: UInt8) throws(AreaFileError) {
        guard try skip(byte) else {
            throw fault("the geometry \(try found()); expected '\(Unicode.Scalar(byte))'")
        }
    }

    /// What comes next, for messages.
    private func found() throws(AreaFileError) -> String {
        try input.peek().map { "has '\(Unicode.Scalar($0))'" } ?? "is cut off: the file ends"
    }

    private mutating func whole() throws(AreaFileError) {
        var word = try word()
        if word == "SRID" {
            try need(UInt8(ascii: "="))
            let number = try number()
            guard number == 4326 else {
                throw AreaFileError(
                    .badArea,
                    "line \(input.line): the geometry has SRID \(Int(exactly: number) ?? 0); only 4326 (WGS 84) is read",
                    hint: "transform it to WGS 84, for example with ogr2ogr -t_srs EPSG:4326")
            }
            try need(UInt8(ascii: ";"))
            word = try self.word()
        }
        try geometry(word, depth: 0)
    }

    private mutating func geometry(_ full: String, depth: Int) throws(AreaFileError) {
        guard depth < Self.depthLimit else { throw fault("geometries are nested deeper than \(Self.depthLimit)") }
        guard
            let type = Self.words.first(where: {
                full == $0 || ["Z", "M", "ZM"].contains(full.dropFirst($0.count)) && full.hasPrefix($0)
            })
        else {
            throw fault("'\(full)' is no geometry that is read; expected \(Self.words.joined(separator: ", "))")
        }
        let tag = try word()
        if tag == "EMPTY" { return }
        if ["Z", "M", "ZM"].contains(tag) {
            if try isEmptyNext() { return }
        } else if !tag.isEmpty {
            throw fault("the geometry has '\(tag)'; expected '(' or EMPTY")
        }
        switch type {
        case "POINT":
            try need(UInt8(ascii: "("))
            geometry.points.append(try position())
            try need(UInt8(ascii: ")"))
        case "MULTIPOINT":
            try list { (reader) throws(AreaFileError) in
                let inBrackets = try reader.skip(UInt8(ascii: "("))
                reader.geometry.points.append(try reader.position())
                if inBrackets { try reader.need(UInt8(ascii: ")")) }
            }
        case "LINESTRING": geometry.lines.append(try line(2))
        case "MULTILINESTRING":
            try list { (reader) throws(AreaFileError) in reader.geometry.lines.append(try reader.line(2)) }
        case "POLYGON": try polygon()
        case "MULTIPOLYGON": try list { (reader) throws(AreaFileError) in try reader.polygon() }
        default:
            try list { (reader) throws(AreaFileError) in try reader.geometry(try reader.word(), depth: depth + 1) }
        }
    }

    /// After Z or M: whether EMPTY follows.
    private func isEmptyNext() throws(AreaFileError) -> Bool {
        try skipSpace()
        guard try input.peek() != UInt8(ascii: "(") else { return false }
        guard try word() == "EMPTY" else { throw fault("the geometry has no '(' and no EMPTY") }
        return true
    }

    /// Reads parts in brackets, with commas between them.
    private mutating func list(
        _ part: (inout WKTReader) throws(AreaFileError) -> Void
    ) throws(AreaFileError) {
        try need(UInt8(ascii: "("))
        repeat { try part(&self) } while try skip(UInt8(ascii: ","))
        try need(UInt8(ascii: ")"))
    }

    private mutating func polygon() throws(AreaFileError) {
        var rings: [[Coordinate]] = []
        try list { (reader) throws(AreaFileError) in
            let ring = try reader.line(1)
            let open = ring.count > 1 && ring.first == ring.last ? ring.count - 1 : ring.count
            guard open >= 3 else { throw reader.fault("a ring has \(open) positions; expected at least 3") }
            rings.append(ring)
        }
        geometry.polygons.append(rings)
    }

    private mutating func line(_ least: Int) throws(AreaFileError) -> [Coordinate] {
        var line: [Coordinate] = []
        try list { (reader) throws(AreaFileError) in line.append(try reader.position()) }
        guard line.count >= least else { throw fault("a line has one position; expected at least 2") }
        return line
    }

    private func position() throws(AreaFileError) -> Coordinate {
        let place = Coordinate(longitude: try number(), latitude: try number())
        // Heights and measures.
        for _ in 0..<2 {
            try skipSpace()
            if let byte = try input.peek(), byte != UInt8(ascii: ","), byte != UInt8(ascii: ")") { _ = try number() }
        }
        try AreaSink.check(place, at: input.line, turns: true)
        return place
    }

    private func number() throws(AreaFileError) -> Double {
        try skipSpace()
        var bytes: [UInt8] = []
        while let byte = try input.peek(), (0x30...0x39).contains(byte) || "+-.eE".utf8.contains(byte), bytes.count < 60
        {
            bytes.append(byte)
            _ = try input.next()
        }
        guard let number = NumberText.number(bytes[...]) else {
            let text = bytes.isEmpty ? try found() : "has '\(String(decoding: bytes, as: UTF8.self))'"
            throw fault("the geometry \(text); expected a number")
        }
        return number
    }
}
