internal import Foundation

/// The base addresses of a catalog's mirrors: other servers that have the same files.
public enum CatalogMirror {
    /// The most mirrors of one catalog.
    public static let limit = 8
    /// The most bytes of an address.
    public static let longestAddress = 500

    /// Whether a text is the address of a mirror as `catalog.json` has it.
    ///
    /// It is `http` or `https` in small letters, has a host and a path that ends in a slash, and has no user, query,
    /// fragment, or character that would have to be escaped.
    public static func isValid(_ address: String) -> Bool {
        guard 1...longestAddress ~= address.utf8.count, address.hasSuffix("/"),
            address.utf8.allSatisfy(isAllowed), let parts = URLComponents(string: address),
            parts.scheme == "http" || parts.scheme == "https", let host = parts.host, !host.isEmpty,
            parts.user == nil, parts.password == nil, parts.port.map({ 1...65_535 ~= $0 }) ?? true,
            address.hasPrefix("http://") || address.hasPrefix("https://")
        else { return false }
        // A folder named by dots is another folder for each reader.
        return !parts.path.split(separator: "/").contains { $0 == "." || $0 == ".." }
    }

    /// Whether `catalog.json` may list these addresses: not too many, each valid, none twice.
    static func areValid(_ addresses: [String]) -> Bool {
        addresses.count <= limit && Set(addresses).count == addresses.count && addresses.allSatisfy(isValid)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "._-~%:/[]()+,".utf8.contains(byte)
        }
    }
}
