public import Errors
internal import Foundation

/// The location of a store's objects: a bucket, and the prefix of their keys.
public struct S3Location: Sendable, Hashable, CustomStringConvertible {
    /// The bucket's name, 3 to 63 characters.
    public let bucket: String
    /// The prefix, without a '/' at either end; empty for the bucket itself.
    public let prefix: String

    /// Whether a text is meant as an S3 location: it begins with `s3://`.
    public static func isMeant(by text: String) -> Bool { text.lowercased().hasPrefix("s3://") }

    /// Reads `s3://bucket/prefix`.
    ///
    /// - Throws: ``S3Error`` `bad-endpoint` for anything else.
    public init(_ text: String) throws(S3Error) {
        func refused(_ why: String) -> S3Error {
            S3Error(.badLocation, "'\(text)' is not an S3 location: \(why). Write s3://bucket/prefix.")
        }
        guard Self.isMeant(by: text) else { throw refused("it does not begin with s3://") }
        let parts = text.dropFirst(5).split(separator: "/", omittingEmptySubsequences: false)
        bucket = String(parts.first ?? "")
        guard (3...63).contains(bucket.utf8.count), bucket.utf8.allSatisfy(Self.mayStandInBucket),
            bucket.first != ".", !bucket.contains("..")
        else { throw refused("a bucket's name has 3 to 63 letters, digits, '-', '.' or '_'") }
        var folders = Array(parts.dropFirst())
        if folders.last?.isEmpty == true { folders.removeLast() }
        // Clients and servers normalise "." and "..", so the object would get another key.
        guard folders.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else {
            throw refused("its prefix has an empty part, '.' or '..'")
        }
        prefix = folders.joined(separator: "/")
        guard prefix.utf8.count <= 512, prefix.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw refused("its prefix is longer than 512 bytes or holds spaces or control characters")
        }
    }

    /// A key under the prefix.
    public func key(_ name: String) -> String { prefix.isEmpty ? name : "\(prefix)/\(name)" }

    /// `s3://bucket/prefix`.
    public var description: String { prefix.isEmpty ? "s3://\(bucket)" : "s3://\(bucket)/\(prefix)" }

    private static func mayStandInBucket(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }
}

/// An S3 server, used with path-style addresses (`endpoint/bucket/key`), and the region for signatures.
public struct S3Endpoint: Sendable, Hashable, CustomStringConvertible {
    /// Scheme, host and port: `https://s3.example.org:8080`.
    public let url: String
    /// For example `us-east-1`.
    public let region: String

    /// Checks an endpoint.
    ///
    /// - Parameters:
    ///   - url: Scheme, host and port; `nil` = Amazon's for the region.
    ///   - region: Letters, digits and '-'.
    ///   - allowPlain: Whether plain http is allowed to other machines; then signatures and tiles can be read in
    ///     transit.
    /// - Throws: ``S3Error`` `bad-endpoint` or `plain-refused`.
    public init(_ url: String? = nil, region: String = "us-east-1", allowPlain: Bool = false) throws(S3Error) {
        let letters = region.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x2D || byte == 0x5F
        }
        guard (1...63).contains(region.utf8.count), letters else {
            throw S3Error(.badLocation, "'\(region)' is not the name of a region. Example: us-east-1.")
        }
        let text = url ?? "https://s3.\(region).amazonaws.com"
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            let host = parts.host, !host.isEmpty, scheme == "http" || scheme == "https",
            ["", "/"].contains(parts.path), parts.query == nil, parts.fragment == nil, parts.user == nil,
            parts.password == nil
        else {
            throw S3Error(
                .badLocation,
                "'\(text)' is not an S3 endpoint: give only scheme, host and port, such as https://s3.example.org:8080."
            )
        }
        guard scheme == "https" || allowPlain || Self.isLoopback(host) else {
            throw S3Error(
                .plainRefused,
                "The S3 endpoint '\(text)' is plain http and not on this machine: others on the network could read and change"
                    + " tiles. Use https, or --insecure-s3 in a network you trust.")
        }
        self.url = "\(scheme)://\(host)" + (parts.port.map { ":\($0)" } ?? "")
        self.region = region
    }

    /// The URL.
    public var description: String { url }

    static func isLoopback(_ host: String) -> Bool {
        let bare = host.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        if bare == "localhost" || bare == "::1" { return true }
        let numbers = bare.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && numbers[0] == 127 && !numbers.contains(nil)
    }
}
