import Errors
import Foundation

extension SourceRow {
    /// Reads a local file that is named after a word: `mbtiles:maps/estonia.mbtiles`.
    static func readFile(
        after word: String
    ) -> @Sendable (_ texts: [String], _ folder: URL) throws(TilesetsError) -> [String]? {
        { (texts, folder) throws(TilesetsError) in
            guard let first = texts.first, first.hasPrefix(word) else { return nil }
            let path = withoutSlashes(first.dropFirst(word.count))
            guard texts.count == 1, !path.isEmpty, !isWeb(path) else {
                throw TilesetsError(
                    .badValue,
                    "'url' with \(word) must name one local file; only pmtiles: reads from a web server too.")
            }
            return [absolute(path: path, folder)]
        }
    }

    /// A path that may be written with `//` in front, as after a scheme.
    static func withoutSlashes(_ path: Substring) -> Substring { path.hasPrefix("//") ? path.dropFirst(2) : path }

    /// The absolute path of a file; a relative path begins at the folder.
    static func absolute(path: Substring, _ folder: URL) -> String {
        let name = String(path)
        let url = name.hasPrefix("/") ? URL(fileURLWithPath: name) : folder.appendingPathComponent(name)
        return url.standardizedFileURL.path
    }

    /// The URL of a PMTiles archive on a web server or in an S3 bucket: one after `pmtiles:`, or one whose path ends with `.pmtiles`.
    static let readRemoteArchive: @Sendable ([String], URL) throws(TilesetsError) -> [String]? = {
        (texts, _) throws(TilesetsError) in
        guard let first = texts.first, let url = remoteArchive(first) else { return nil }
        guard texts.count == 1 else {
            throw TilesetsError(.badValue, "'url' must name one archive; several URLs are possible only for tiles.")
        }
        return [url]
    }

    private static func remoteArchive(_ text: String) -> String? {
        let word = "pmtiles:"
        if text.hasPrefix(word), isWeb(text.dropFirst(word.count)) { return String(text.dropFirst(word.count)) }
        // Nothing else is read from a bucket.
        if text.lowercased().hasPrefix("s3://") { return text }
        return isWeb(text[...]) && path(ofURL: text).lowercased().hasSuffix(".pmtiles") ? text : nil
    }

    static func isWeb(_ text: Substring) -> Bool {
        let text = text.prefix(8).lowercased()
        return ["http://", "https://", "s3://"].contains { text.hasPrefix($0) }
    }

    static func path(ofURL text: String) -> String { String(text.prefix { !"?#".contains($0) }) }
}

extension Tileset {
    /// Checks the path of a local file.
    func checkFile() throws(TilesetsError) {
        guard source.addresses.count == 1, source.address.hasPrefix("/"), !source.address.utf8.contains(0) else {
            throw TilesetsError(.badValue, "Tileset '\(id)': the archive's path must be absolute.")
        }
    }

    /// Checks the address of a file on a web server or in a bucket.
    func checkRemoteFile() throws(TilesetsError) {
        let url = source.address
        guard source.addresses.count == 1, url.utf8.count <= 4_096,
            !url.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F })
        else {
            throw TilesetsError(
                .badValue, "Tileset '\(id)': the archive's address must be a URL of at most 4,096 bytes.")
        }
        if url.lowercased().hasPrefix("s3://") {
            guard url.dropFirst(5).split(separator: "/").count > 1, !url.contains("{"), !url.contains("?") else {
                throw TilesetsError(
                    .badValue, "Tileset '\(id)': an archive in a bucket must be written as s3://bucket/key.")
            }
            return
        }
        try HostPolicy.check(url)
        guard !url.replacing("{key}", with: "").contains("{") else {
            throw TilesetsError(
                .badTemplate, "Tileset '\(id)': the archive's address can have no other placeholder than {key}.")
        }
        try checkAddress(url, needsKey: url.contains("{key}"))
    }
}
