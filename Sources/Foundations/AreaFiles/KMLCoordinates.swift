import Errors
import Tiles

/// Reads the text of `coordinates` as it comes: `lon,lat` or `lon,lat,altitude`, parted by white space.
///
/// White space around a comma is accepted. A tuple of one number, or of more than three, is refused: commas between tuples would be read as
/// something else.
struct KMLCoordinates {
    private var token: [UInt8] = []
    private var numbers: [Double] = []
    private var hasComma = false

    /// Takes a piece of text, and gives each position that is complete.
    mutating func take(
        _ text: [UInt8], at line: Int, _ body: (Coordinate) throws(AreaFileError) -> Void
    ) throws(AreaFileError) {
        for byte in text {
            if byte == UInt8(ascii: ",") {
                try endToken(line)
                guard !numbers.isEmpty, !hasComma else {
                    throw .line(line, "coordinates have a comma without a number before it")
                }
                guard numbers.count < 3 else { throw Self.ambiguous(line) }
                hasComma = true
            } else if NumberText.isSpace(byte) {
                try endToken(line)
            } else {
                if token.isEmpty, !numbers.isEmpty, !hasComma { try emit(line, body) }
                token.append(byte)
                guard token.count <= 100 else { throw Self.noNumber(token, line) }
            }
        }
    }

    /// Gives the last position, and begins again.
    mutating func end(at line: Int, _ body: (Coordinate) throws(AreaFileError) -> Void) throws(AreaFileError) {
        try endToken(line)
        hasComma = false
        if !numbers.isEmpty { try emit(line, body) }
    }

    private mutating func endToken(_ line: Int) throws(AreaFileError) {
        guard !token.isEmpty else { return }
        guard let number = NumberText.number(token[...]) else { throw Self.noNumber(token, line) }
        token.removeAll(keepingCapacity: true)
        numbers.append(number)
        hasComma = false
    }

    private mutating func emit(_ line: Int, _ body: (Coordinate) throws(AreaFileError) -> Void) throws(AreaFileError) {
        guard numbers.count >= 2 else {
            throw .line(line, "coordinates have a tuple of one number, \(numbers[0]); expected longitude,latitude")
        }
        guard numbers.count <= 3 else { throw Self.ambiguous(line) }
        let place = Coordinate(longitude: numbers[0], latitude: numbers[1])
        numbers.removeAll(keepingCapacity: true)
        try AreaSink.check(place, at: line, turns: true)
        try body(place)
    }

    private static func ambiguous(_ line: Int) -> AreaFileError {
        .line(
            line, "coordinates have a tuple of more than three numbers; expected longitude,latitude,altitude",
            hint: "part the tuples by spaces, not by commas")
    }

    private static func noNumber(_ token: [UInt8], _ line: Int) -> AreaFileError {
        .line(line, "coordinates have '\(String(decoding: token.prefix(40), as: UTF8.self))'; expected a number")
    }
}
