import Errors

/// Names of builds, and the days in them.
enum BuildName {
    /// The most bytes of a name.
    static let maxBytes = 128

    /// - Throws: ``TilesetsError`` `.badIndex` for a text that could change the path of an address.
    static func check(_ name: String) throws(TilesetsError) {
        guard isName(name) else {
            throw TilesetsError(
                .badIndex,
                "'\(shown(name))' is no name of a build: 1 to \(maxBytes) letters, digits and . _ + - are expected.")
        }
    }

    static func isName(_ name: String) -> Bool {
        guard (1...maxBytes).contains(name.utf8.count), name != ".", name != ".." else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"):
                true
            default: "._+-".utf8.contains(byte)
            }
        }
    }

    /// A text for messages: its beginning, without control characters.
    static func shown(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(80).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : $0 }))
    }

    /// The first day in a name, as `2026-11-24`: eight digits or `2026-11-24`, next to no other digit.
    ///
    /// A checksum has none, whatever its digits are.
    static func date(in name: String) -> String? {
        let bytes = Array(name.utf8)
        guard bytes.count < 32 || !bytes.allSatisfy(SourceBuild.isDigit) else { return nil }
        var start = 0
        while start < bytes.count {
            guard isDigit(bytes[start]) else {
                start += 1
                continue
            }
            if let day = day(bytes, at: start) { return day }
            while start < bytes.count, isDigit(bytes[start]) { start += 1 }
        }
        return nil
    }

    /// The day that begins at a digit after no other.
    private static func day(_ bytes: [UInt8], at start: Int) -> String? {
        for dashes in [0, 1] {
            let length = 8 + 2 * dashes
            guard start + length <= bytes.count, start + length == bytes.count || !isDigit(bytes[start + length])
            else { continue }
            let places = [(0, 4), (4 + dashes, 2), (6 + 2 * dashes, 2)]
            let numbers = places.compactMap { place, count in number(bytes[(start + place)..<(start + place + count)]) }
            guard numbers.count == 3 else { continue }
            if dashes == 1, bytes[start + 4] != UInt8(ascii: "-") || bytes[start + 7] != UInt8(ascii: "-") { continue }
            guard 1900...2999 ~= numbers[0], 1...12 ~= numbers[1], 1...days(numbers[0], numbers[1]) ~= numbers[2]
            else { continue }
            return text(year: numbers[0], month: numbers[1], day: numbers[2])
        }
        return nil
    }

    /// `2026-11-24`.
    private static func text(year: Int, month: Int, day: Int) -> String {
        "\(year)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)"
    }

    static func days(_ year: Int, _ month: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        digits.allSatisfy(isDigit) ? digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } : nil
    }

    /// Whether a name comes before another: runs of digits count as numbers, so that 0.0.9 comes before 0.0.13.
    static func isBefore(_ left: String, _ right: String) -> Bool {
        var (one, two) = (Array(left.utf8)[...], Array(right.utf8)[...])
        while let first = one.first, let second = two.first {
            if isDigit(first), isDigit(second) {
                let (a, b) = (digits(&one), digits(&two))
                if a.count != b.count { return a.count < b.count }
                if a != b { return a.lexicographicallyPrecedes(b) }
            } else if first != second {
                return first < second
            } else {
                (one, two) = (one.dropFirst(), two.dropFirst())
            }
        }
        return one.count < two.count
    }

    /// Takes a run of digits from the front, without leading zeros.
    private static func digits(_ text: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let run = text.prefix(while: isDigit)
        text = text.dropFirst(run.count)
        return run.drop { $0 == UInt8(ascii: "0") }
    }
}
