import Errors
import Tiles

/// Reads GeoJSON: one document, or a sequence of them.
enum GeoJSONReader {
    /// The largest document: 512 MiB, twice the largest national boundary file known.
    private static let documentLimit = 512 << 20
    /// The largest record of a sequence: 128 MiB.
    private static let recordLimit = 128 << 20
    private static let separator: UInt8 = 0x1E

    /// Reads one document.
    static func document(_ input: AreaInput, _ sink: inout AreaSink) throws(AreaFileError) {
        try input.beginText()
        try add(try input.rest(limit: documentLimit), at: "", to: &sink)
    }

    /// Reads a sequence: records after the byte RS (RFC 8142), or one record a line.
    static func sequence(_ input: AreaInput, _ sink: inout AreaSink) throws(AreaFileError) {
        try input.beginText()
        let end: UInt8 = try input.peek() == separator ? separator : UInt8(ascii: "\n")
        var number = 0
        while try input.peek() != nil {
            let line = input.line
            var record: [UInt8] = []
            var isFilled = false
            while let byte = try input.next() {
                if byte == end { break }
                record.append(byte)
                if !isFilled, !NumberText.isSpace(byte) { isFilled = true }
                guard record.count <= recordLimit else {
                    throw AreaFileError(
                        .tooLarge, "the record of line \(line) has more than \(recordLimit >> 20) MiB")
                }
            }
            guard isFilled else { continue }
            number += 1
            try add(record, at: "record \(number) (line \(line)): ", to: &sink)
        }
    }

    private static func add(_ bytes: [UInt8], at place: String, to sink: inout AreaSink) throws(AreaFileError) {
        let features: [AreaFeature]
        do throws(TilesError) { features = try AreaFeature.features(geoJSON: bytes) } catch {
            throw AreaFileError(.badArea, "\(place)\(error.message)", hint: error.hint)
        }
        for (index, feature) in features.enumerated() {
            try sink.add(feature, at: "\(place)feature \(index)")
        }
    }

    /// Whether a text is a sequence: its first line is a whole object, and another one follows.
    static func isSequence(_ text: ArraySlice<UInt8>) -> Bool {
        var depth = 0
        var (isString, isEscaped, isLine) = (false, false, true)
        for (index, byte) in zip(text.indices, text) {
            if isEscaped {
                isEscaped = false
            } else if isString {
                if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isString = false
                }
            } else if byte == UInt8(ascii: "\"") {
                isString = true
            } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                depth += 1
            } else if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
                depth -= 1
                if depth <= 0 {
                    let rest = text[(index + 1)...]
                    guard isLine, let next = rest.first(where: { !NumberText.isSpace($0) }) else { return false }
                    return next == UInt8(ascii: "{") && rest.prefix { $0 != next }.contains(UInt8(ascii: "\n"))
                }
            } else if byte == UInt8(ascii: "\n"), depth > 0 {
                isLine = false
            }
            if !isLine { return false }
        }
        return false
    }
}
