internal import CatalogFormat
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
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            // Texts and a list of texts can always be encoded.
            let bytes = (try? encoder.encode(self)) ?? Data("{}".utf8)
            try Durable.write([UInt8](bytes), to: store.appending(path: Self.name))
        } catch { throw CLIError(.cannotCreate, error.message, hint: error.hint) }
    }

    /// The settings with what a command line says.
    ///
    /// - Throws: ``CLIError`` 66 for a folder that is no catalog; `CatalogError` for a key that is none.
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

    /// The address as the library takes it.
    var address: URL? {
        catalog.flatMap { Self.isWeb($0) ? URL(string: $0) : URL(filePath: $0, directoryHint: .isDirectory) }
    }

    /// The folder of a catalog on this machine.
    var folder: URL? { address.flatMap { $0.isFileURL ? $0 : nil } }

    /// Whose catalogs are accepted.
    var trust: Trust { publicKeys.isEmpty ? .unsigned : .keys(publicKeys) }

    private static func isWeb(_ text: String) -> Bool {
        let lower = text.lowercased()
        return lower.hasPrefix("http://") || lower.hasPrefix("https://")
    }

    /// An address unchanged; a folder as the absolute path of the one that has `catalog.json`.
    private static func place(_ text: String) throws -> String {
        guard !isWeb(text) else {
            guard URL(string: text)?.host() != nil else { throw CLIError(.usage, "'\(text)' is no address") }
            return text
        }
        let named = URL(filePath: text, directoryHint: .isDirectory).standardizedFileURL
        func hasCatalog(_ folder: URL) -> Bool { FileKind.isThere(folder.appending(path: CatalogIndex.fileName)) }
        // A coordinator's data folder has its catalog in a folder of this name.
        let inner = named.appending(path: "catalog", directoryHint: .isDirectory)
        guard let folder = [named, inner].first(where: hasCatalog) else {
            throw CLIError(.noInput, "'\(named.path)' is not a catalog: it has no \(CatalogIndex.fileName)")
        }
        return folder.path
    }
}
