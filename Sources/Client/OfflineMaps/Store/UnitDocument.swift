internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import Tiles

/// `unit.json`, next to the file of each unit: what its row says, so that a lost database can be made again.
struct UnitDocument: Codable, Sendable, Hashable {
    /// The version of the document.
    static let format = 1
    static let name = "unit.json"
    /// Larger documents are not read; a mask of a large country has some 100 KB.
    static let maxBytes: UInt64 = 16 << 20

    var format = Self.format
    var item: String
    var version: Int32
    /// The file's name in the same folder.
    var file: String
    var bytes: UInt64
    var sha256: String
    var fileFormat: String
    var mask: Data?
    var zooms: ZoomRange?
    var tileset: String?
    var template: String?
    var dataDate: String?
    var attribution: String?
    /// The catalog's address, the key that signed it, and its sequence.
    var address: String?
    var key: String?
    var sequence: Int64?

    /// Describes a unit.
    init(_ unit: UnitRow, file: String, address: String? = nil, key: String? = nil, sequence: Int64? = nil) {
        (item, version, self.file, bytes, sha256) = (unit.item.key, unit.version, file, unit.bytes, unit.sha256)
        (fileFormat, mask, zooms) = (unit.format.name, unit.mask.map { Data($0.encoded()) }, unit.zooms)
        (tileset, template, dataDate, attribution) = (unit.tileset, unit.template, unit.dataDate, unit.attribution)
        (self.address, self.key, self.sequence) = (address, key, sequence)
    }

    /// The bytes to write.
    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(self))
    }

    /// Reads a document; `nil` for one that is too large, damaged, of a newer format, or contradicts itself.
    static func read(_ file: URL) -> UnitDocument? {
        // `nil` says that there is no such document.
        guard let open = try? FileDescriptor(reading: file), open.size <= maxBytes,
            let bytes = try? open.read(at: 0, count: Int(open.size))
        else { return nil }
        return UnitDocument(decoding: bytes)
    }

    /// Reads the bytes of a document; `nil` for one that is damaged, of a newer format, or contradicts itself.
    init?(decoding bytes: [UInt8]) {
        // `nil` says that the bytes are none.
        guard let document = try? JSONDecoder().decode(UnitDocument.self, from: Data(bytes)),
            document.format == Self.format, Digest(hex: document.sha256)?.hex == document.sha256,
            !document.file.isEmpty, !document.file.utf8.contains(UInt8(ascii: "/")), document.file != ".",
            document.file != ".."
        else { return nil }
        self = document
    }

    /// The row of the unit; `nil` when an item or a mask is none.
    ///
    /// - Parameter path: Of the file, below the folder of the store.
    func record(path: String) -> UnitRow? {
        guard let item = Item(key: item) else { return nil }
        var decoded: TileMask?
        if let mask {
            // A damaged mask: the document does not describe its file.
            guard let value = try? TileMask(decoding: mask) else { return nil }
            decoded = value
        }
        return UnitRow(
            item: item, version: version, path: path, bytes: bytes, sha256: sha256, format: Format(fileFormat),
            mask: decoded, zooms: zooms, tileset: tileset, template: template, dataDate: dataDate,
            attribution: attribution)
    }
}
