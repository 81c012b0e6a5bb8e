/// The beginning of a file, by which its format is known.
struct AreaStart {
    /// How much of a file is looked at: a sequence is one when its first record ends within this.
    static let size = 4 << 20

    let bytes: ArraySlice<UInt8>
    /// What the name of the file ends in, lower case; empty without a name.
    let ending: String

    /// The first byte that is no white space.
    var first: UInt8? { bytes.first { !NumberText.isSpace($0) } }

    func begins(_ mark: [UInt8], at offset: Int = 0) -> Bool {
        bytes.dropFirst(offset).starts(with: mark)
    }

    /// The name of the first element of XML, without its prefix; `nil` when there is none at the beginning.
    var root: String? {
        guard first == UInt8(ascii: "<") else { return nil }
        var rest = bytes.prefix(1 << 16)
        while let mark = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(mark + 1)...]
            guard let next = rest.first else { return nil }
            if rest.starts(with: Array("!--".utf8)) {
                guard let end = Self.position(of: Array("-->".utf8), in: rest) else { return nil }
                rest = rest[end...]
            } else if next == UInt8(ascii: "!") || next == UInt8(ascii: "?") {
                guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
                rest = rest[end...]
            } else {
                let name = rest.prefix { !NumberText.isSpace($0) && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
                return String(decoding: name.prefix(200), as: UTF8.self).split(separator: ":").last.map(String.init)
            }
        }
        return nil
    }

    private static func position(of mark: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        var rest = bytes
        while let start = rest.firstIndex(of: mark[0]) {
            rest = rest[start...]
            if rest.starts(with: mark) { return start }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// The first lines that are not empty, at most so many.
    func lines(_ count: Int) -> [[UInt8]] {
        let lines = bytes.prefix(1 << 16).split(maxSplits: 4 * count, whereSeparator: { $0 == 0x0A || $0 == 0x0D })
        return lines.prefix(4 * count).filter { !$0.allSatisfy(NumberText.isSpace) }.prefix(count).map { Array($0) }
    }

    /// Whether the third line is two numbers, and the second is not: a title, the name of a section, a position.
    var isPoly: Bool {
        let lines = lines(3)
        guard lines.count == 3, first != UInt8(ascii: "<") else { return false }
        func numbers(_ line: [UInt8]) -> Int { NumberText.words(line).count { NumberText.number($0) != nil } }
        let words = NumberText.words(lines[2])
        guard words.count == 2, numbers(lines[2]) == 2 else { return false }
        return ending == "poly" || numbers(lines[1]) < 2
    }

    /// Whether its first line has cells.
    var isTable: Bool {
        guard ending != "csv", ending != "tsv" else { return !bytes.isEmpty }
        guard let line = lines(1).first, !bytes.prefix(4_096).contains(0) else { return false }
        return line.contains { ",;|\t".utf8.contains($0) }
    }
}
