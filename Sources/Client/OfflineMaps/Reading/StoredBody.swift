internal import Foundation
internal import PackageFiles
internal import TileBodies

/// A tile's body as a renderer gets it.
struct StoredBody {
    var bytes: Data
    var coding: Coding
    var mediaType: String
    var expires: Date?

    init(_ bytes: Data, coding: Coding, mediaType: String, expires: Date? = nil) {
        self.bytes = bytes
        self.coding = coding
        self.mediaType = mediaType
        self.expires = expires
    }

    /// Finds the coding by the first bytes: files of other makers have vector tiles plain, as gzip and as zlib.
    ///
    /// - Parameter mediaType: `nil` finds it by the first bytes, too.
    init(_ bytes: Data, isVector: Bool, mediaType: String?, expires: Date? = nil) {
        let (first, second) = (bytes.first ?? 0, bytes.count > 1 ? bytes[bytes.startIndex + 1] : 0)
        let coding: Coding =
            switch (first, second) {
            case (0x1F, 0x8B): .gzip
            // RFC 1950: method 8 with a window of 32 KiB, and a check that makes the two bytes a multiple of 31.
            case (0x78, _) where (Int(first) << 8 | Int(second)).isMultiple(of: 31): .zlib
            default: .plain
            }
        let isPacked = coding == .gzip || coding == .zlib && isVector
        self.init(
            bytes, coding: isPacked ? coding : .plain, mediaType: mediaType ?? Self.sniffed(bytes, coding),
            expires: expires)
    }

    private static func sniffed(_ bytes: Data, _ coding: Coding) -> String {
        if coding == .gzip { return (TileFormat(content: [UInt8](bytes)) ?? .mvt).mediaType }
        return imageType(bytes) ?? "application/octet-stream"
    }

    /// The media type of an image; `nil` for bytes that do not begin as one.
    static func imageType(_ bytes: Data) -> String? {
        bytes.withUnsafeBytes { raw in TileFormat(pictureBeginning: raw) }?.mediaType
    }
}
