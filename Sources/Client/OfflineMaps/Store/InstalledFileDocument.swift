internal import Digests
internal import Errors
internal import Files
internal import Foundation

/// `unit.json`, next to each installed file that is no pack: its record, so that a lost database can be made again.
struct InstalledFileDocument: Codable, Sendable, Hashable {
    /// The version of the document.
    static let formatVersion = 2
    static let name = "unit.json"
    /// Larger documents are not read; a mask of a large country has some 100 KB.
    static let maxBytes: UInt64 = 16 << 20

    var formatVersion = Self.formatVersion
    /// Its path is the file's name in the same folder.
    var file: InstalledFile
    /// The catalog that it comes from.
    var source: CatalogOrigin?

    /// Describes a file.
    init(_ file: InstalledFile, source: CatalogOrigin? = nil) {
        (self.file, self.source) = (file, source)
        self.file.path = file.path.split(separator: "/").last.map(String.init) ?? ""
        (self.file.state, self.file.order, self.file.usedAt) = (.current, 0, 0)
    }

    /// The bytes to write.
    func encoded() throws(StorageError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return [UInt8](try encoder.encode(self)) } catch {
            throw StorageError(.io, "The unit file of '\(file.item.key)' cannot be written: \(error).", cause: error)
        }
    }

    /// Reads a document; `nil` for one that is too large, damaged, of a newer format, or contradicts itself.
    static func read(_ file: URL) -> InstalledFileDocument? {
        // Every error means: there is no such document.
        guard StoreScan.isFile(file), let open = try? FileDescriptor(reading: file), open.size <= maxBytes,
            let bytes = try? open.read(at: 0, count: Int(open.size))
        else { return nil }
        return InstalledFileDocument(decoding: bytes)
    }

    /// Reads the bytes of a document; `nil` for one that is damaged, of a newer format, or contradicts itself.
    init?(decoding bytes: [UInt8]) {
        // Every error means: the bytes are not such a document.
        guard let document = try? JSONDecoder().decode(InstalledFileDocument.self, from: Data(bytes)),
            document.formatVersion == Self.formatVersion
        else { return nil }
        let (file, name) = (document.file, document.file.path)
        guard Digest(hex: file.sha256)?.hex == file.sha256,
            file.id.key == InstalledFileKey(name: file.item.key, isPack: false), file.state == .current,
            file.order == 0, file.usedAt == 0,
            !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), name != ".", name != ".."
        else { return nil }
        self = document
    }
}

/// Which catalog a file comes from.
struct CatalogOrigin: Codable, Hashable, Sendable {
    var address: String?
    /// The key that signed it.
    var key: String?
    var sequence: Int64?
}
