internal import Foundation

/// `installed.json` of a folder that `packhorse install` made.
struct InstallRecord: Decodable, Sendable {
    static let name = "installed.json"
    /// Larger records are not read, in bytes.
    static let maxBytes = 64 << 20

    struct Package: Decodable, Sendable {
        var id: String
        var group: String?
        var language: String?
        var format: String
        var version: Int32
        var file: String
        var size: UInt64
        var sha256: String
        var attribution: String?
        var dataDate: String?

        enum CodingKeys: String, CodingKey {
            case id, group, language, format, version, file, size, sha256, attribution
            case dataDate = "data_date"
        }
    }

    struct Region: Decodable, Sendable {
        var id: String
        var group: String?
        var language: String?
        var version: Int32
        var list: String
    }

    struct Style: Decodable, Sendable {
        var id: String
        var version: Int32
        var file: String
        var sha256: String
    }

    var packages: [Package]
    var regions: [Region]?
    var styles: [Style]?
}
