/// The encoding of S3 keys in URLs: RFC 3986's unreserved characters are kept, every other byte is %XX.
public enum S3Text {
    /// SHA-256 of an empty body in hexadecimal, for requests without a body.
    public static let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// A key as a path.
    public static func path(_ key: String) -> String { encoded(key, slash: true) }

    /// A query sorted by key, every key with its '=': libcurl signs it unchanged.
    public static func query(_ items: [(String, String)]) -> String {
        guard !items.isEmpty else { return "" }
        let pairs = items.map { (encoded($0.0, slash: false), encoded($0.1, slash: false)) }
        let sorted = pairs.sorted { Array($0.0.utf8).lexicographicallyPrecedes(Array($1.0.utf8)) }
        return "?" + sorted.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func encoded(_ text: String, slash: Bool) -> String {
        var out: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: out.append(byte)
            case 0x2F where slash: out.append(byte)
            default: out += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}
