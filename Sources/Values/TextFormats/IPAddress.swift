internal import Foundation

/// An IP address in any spelling that a connection would be made to.
struct IPAddress {
    /// 4 or 16 bytes; an IPv4 address inside of an IPv6 address is 4.
    private let bytes: [UInt8]

    /// `nil` for a name.
    ///
    /// Reads `127.1`, `0x7f000001` and `2130706433` as libcurl does, and IPv6 without brackets, also with a zone.
    init?(_ text: String) {
        if text.contains(":") {
            var parsed = in6_addr()
            guard inet_pton(AF_INET6, String(text.prefix { $0 != "%" }), &parsed) == 1 else { return nil }
            let all = withUnsafeBytes(of: &parsed) { Array($0) }
            // ::ffff:a.b.c.d is an IPv4 address; so was ::a.b.c.d (RFC 4291, 2.5.5), but for :: and ::1.
            let isMapped = all[..<10].allSatisfy { $0 == 0 } && all[10] == 0xFF && all[11] == 0xFF
            let isCompatible = all[..<12].allSatisfy { $0 == 0 } && all[12...].contains { $0 != 0 } && all[12] != 0
            bytes = isMapped || isCompatible ? Array(all[12...]) : all
        } else {
            guard text.utf8.first.map({ (0x30...0x39).contains($0) }) == true else { return nil }
            var parsed = in_addr()
            guard inet_aton(text, &parsed) != 0 else { return nil }
            bytes = withUnsafeBytes(of: &parsed) { Array($0) }
        }
    }

    /// Whether it is of this machine, of its link, or of a private network.
    var isPrivate: Bool {
        switch bytes.count {
        case 4:
            switch (bytes[0], bytes[1]) {
            case (0, _), (10, _), (127, _), (169, 254), (172, 16...31), (192, 168): true
            default: false
            }
        default:
            // ::, ::1, fc00::/7 and fe80::/10.
            bytes[..<15].allSatisfy { $0 == 0 } && bytes[15] <= 1 || bytes[0] & 0xFE == 0xFC
                || bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
        }
    }
}
