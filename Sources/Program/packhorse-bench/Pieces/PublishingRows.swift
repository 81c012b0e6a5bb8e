import Catalog
import CatalogFormat
internal import Digests
import Files
import Foundation
internal import TextFormats

/// The cost of one more package for a coordinator with a full catalog, measured against a fixed limit.
enum PublishingRows {
    /// Processor milliseconds per publication.
    private static let limit = 25.0

    /// Publishes packages one by one into a catalog of 3,000: new ones and, signed, new versions.
    ///
    /// - Parameter isSmall: Whether to publish only a few packages.
    static func publications(_ folder: URL, isSmall: Bool) throws -> [PieceRow] {
        let count = isSmall ? 30 : 3_000
        return try [("publish a package", false), ("publish a version, signed", true)].map { name, isSigned in
            let home = folder.appending(path: isSigned ? "signed" : "unsigned")
            let catalog = try Catalog(
                home.appending(path: "catalog"), create: true, baseURL: "https://maps.example.com/offline/",
                signingKey: isSigned ? CatalogSecretKey() : nil, keepVersions: 3)
            var shop = Requests(home: home)
            // In parts: a file system limits the hard links of a file to some thousands.
            for start in stride(from: 0, to: count, by: 500) {
                let first = try (start..<min(count, start + 500)).map { try shop.next("P\($0)", every: 500) }
                for result in catalog.publish(first) { _ = try result.get() }
            }
            let rounds = isSmall ? 3 : 50
            let requests = try (0..<rounds).map { try shop.next(isSigned ? "P\($0 * 7 % count)" : "N\($0)", every: 1) }
            var listed = 0
            let time = try Stopwatch.time {
                for request in requests {
                    _ = try catalog.publish(request)
                    listed = try catalog.packages().count
                }
            }
            let bytes = try ["packages.json", "catalog.json"].reduce(0) { sum, list in
                sum + (try Digest.ofFile(home.appending(path: "catalog/\(list)")).size)
            }
            return PieceRow(
                piece: name, unit: "ms of CPU", value: time.cpu * 1_000 / Double(rounds), limit: limit,
                note: "one by one, \(Units.count(UInt64(listed))) packages then: lists of \(Units.bytes(bytes))")
        }
    }

    /// Small packages with realistic descriptions.
    private struct Requests {
        let home: URL
        private var made = 0
        private var last: (file: URL, digest: Digest, size: UInt64)?

        init(home: URL) { self.home = home }

        /// The next request.
        ///
        /// One file is used for `count` requests.
        mutating func next(_ id: String, every count: Int) throws -> PublishRequest {
            let file: (file: URL, digest: Digest, size: UInt64)
            if let last, made % count != 0 {
                file = last
            } else {
                let bytes = Array("package \(made)".utf8)
                file = (home.appending(path: "file-\(made)"), Digest(of: bytes), UInt64(bytes.count))
                try Data(bytes).write(to: file.file)
            }
            last = file
            made += 1
            var request = PublishRequest(
                id: id, file: file.file, digest: file.digest, size: file.size,
                maskWire: String(repeating: "QAGpVWqlVVWVVVVVVV", count: 12) + ":14",
                names: ["en": "Europe/Northern Europe/\(id)", "de": "Europa/Nordeuropa/\(id)", "et": "Euroopa/\(id)"],
                tilesHash: "D41D8CD98F00B204E9800998ECF8427E")
            request.attribution = "© OpenStreetMap contributors"
            request.tileset = "streets"
            return request
        }
    }
}
