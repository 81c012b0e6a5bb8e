internal import CatalogFormat
internal import CatalogTransfer
internal import CommandSupport
import Errors
internal import Files
import Foundation
import OfflineMaps

/// What the commands keep next to a store: the address of its catalog, and the keys that may have signed it.
struct DeviceSettings: Codable, Sendable, Equatable {
    /// The name of the file in the folder of the store.
    static let name = "device.json"

    /// The address, or the absolute path of a folder.
    var catalog: String?
    /// Texts `ed25519-public:...`; empty: any catalog is accepted.
    var publicKeys: [String] = []

    /// The settings of a store; the default ones where there are none.
    ///
    /// - Throws: ``CLIError`` 78 for a damaged file.
    static func read(_ store: URL) throws -> DeviceSettings {
        let file = store.appending(path: name)
        guard FileKind.isThere(file) else { return DeviceSettings() }
        do {
            return try JSONDecoder().decode(DeviceSettings.self, from: try InputFile.read(file))
        } catch is DecodingError {
            throw CLIError(
                .configuration, "'\(file.path)' is damaged",
                hint: "remove it, and give --catalog and --public-key again")
        }
    }

    /// Writes the settings.
    ///
    /// - Throws: ``CLIError`` 73 when the folder cannot be written.
    func write(_ store: URL) throws {
        do throws(StorageError) {
            try Durable.makeFolder(store)
            try Self.removeDrafts(store)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            // Texts and a list of texts can always be encoded.
            let bytes = (try? encoder.encode(self)) ?? Data("{}".utf8)
            try Durable.write([UInt8](bytes), to: store.appending(path: Self.name))
        } catch { throw CLIError(.cannotCreate, error.message, hint: error.hint) }
    }

    /// Removes settings that a process was writing when it ended.
    private static func removeDrafts(_ store: URL) throws(StorageError) {
        // A folder that cannot be listed keeps some hundred bytes more.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: store.path)) ?? []
        for draft in names where draft.hasPrefix(".\(name).") { try Durable.remove(store.appending(path: draft)) }
    }

    /// The settings with what a command line says.
    ///
    /// - Throws: `CatalogTransferError` for a place without a catalog; `CatalogError` for an invalid key.
    func with(_ arguments: CatalogArguments) throws -> DeviceSettings {
        var settings = self
        if let named = arguments.catalog { settings.catalog = try Self.place(named) }
        if arguments.unsigned { settings.publicKeys = [] }
        if !arguments.publicKey.isEmpty {
            settings.publicKeys = try arguments.publicKey.compactMap {
                try SigningKeyOption.readPublic($0)?.description
            }
        }
        return settings
    }

    /// Where the catalog is; `nil` when none was named.
    var place: CatalogLocation? {
        catalog.map { text in
            text.hasPrefix("/") ? .folder(URL(filePath: text, directoryHint: .isDirectory)) : .web(text)
        }
    }

    /// The address as the library takes it.
    var address: URL? {
        switch place {
        case .web(let address): URL(string: address)
        case .folder(let folder): folder
        case nil: nil
        }
    }

    /// The folder of a catalog on this machine.
    var folder: URL? { if case .folder(let folder) = place { folder } else { nil } }

    /// Whose catalogs are accepted.
    var trust: Trust { publicKeys.isEmpty ? .unsigned : .keys(publicKeys) }

    /// An address that ends in a slash; a folder as the absolute path of the one that has `catalog.json`.
    private static func place(_ text: String) throws -> String {
        let place = try CatalogLocation(text)
        guard case .folder(let named) = place else { return place.name }
        let folder = named.standardizedFileURL
        guard FileKind.isThere(folder.appending(path: CatalogIndex.fileName)) else { throw place.missingIndex }
        return folder.path
    }
}
