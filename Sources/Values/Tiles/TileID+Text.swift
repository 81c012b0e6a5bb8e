extension TileID: CustomStringConvertible, LosslessStringConvertible {
    /// The tile as "z/x/y", with y from the north.
    public var description: String { "\(zoom)/\(x)/\(y)" }

    /// Reads "z/x/y" with y from the north: plain decimal digits only, `nil` for anything else.
    public init?(_ description: String) {
        let parts = description.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 3, let zoom = Self.number(parts[0]), let x = Self.number(parts[1]),
            let y = Self.number(parts[2])
        else { return nil }
        self.init(zoom: zoom, x: x, y: y)
    }

    /// The tile as a quadkey: a digit 0...3 for each zoom from 1 down, `y * 2 + x` of the quadrant.
    ///
    /// Empty for the root.
    public var quadkey: String {
        String(
            decoding: (0..<zoom).reversed().map { 0x30 | UInt8(y >> $0 & 1) << 1 | UInt8(x >> $0 & 1) },
            as: UTF8.self)
    }

    /// Reads a quadkey of up to 22 digits 0...3, `nil` for anything else.
    public init?(quadkey: String) {
        let digits = quadkey.utf8
        guard digits.count <= Self.maxZoom else { return nil }
        var x = 0
        var y = 0
        for digit in digits {
            guard (0x30...0x33).contains(digit) else { return nil }
            x = x << 1 | Int(digit & 1)
            y = y << 1 | Int(digit >> 1 & 1)
        }
        self.init(trusted: digits.count, x, y)
    }

    /// One to seven decimal digits, the most a tile can have.
    private static func number(_ digits: Substring.UTF8View.SubSequence) -> Int? {
        guard (1...7).contains(digits.count) else { return nil }
        var value = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            value = value * 10 + Int(digit & 15)
        }
        return value
    }
}
