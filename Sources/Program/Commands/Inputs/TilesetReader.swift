internal import CommandSupport
import Errors
import Foundation
import Origins
import Tilesets

/// Reads the value of `--tileset`.
enum TilesetReader {
    /// A complete tileset from a file, or from an address as ``SourceScheme`` reads it.
    ///
    /// - Throws: ``CLIError`` 66 for a missing file, 64 for an address of an unknown kind; `TilesetsError`, `OriginsError` otherwise.
    static func read(_ named: String, format: String? = nil, language: String?) async throws -> Tileset {
        let file = try self.file(named, format: format)
        return try await complete(language.map(file.inLanguage) ?? file)
    }

    /// The value of `--tileset`, before the documents that it refers to are read.
    ///
    /// - Parameter format: The value of `--input-format`, for a source that is named directly.
    static func file(_ named: String, format: String? = nil) throws -> TilesetFile {
        let here = URL(filePath: FileManager.default.currentDirectoryPath, directoryHint: .isDirectory)
        let file: TilesetFile
        if SourceScheme.isAddress(named) {
            file = try TilesetFile(
                source: named, folder: here, contact: Variable.value("PACKHORSE_CONTACT"), format: format)
        } else {
            guard format == nil else {
                throw CLIError(
                    .usage, "--input-format is for an archive or a URL that --tileset names directly",
                    hint: "write format: \(format ?? "") into '\(named)'")
            }
            let url = URL(filePath: named)
            try checkKind(named, url)
            try FileKind.requireFile(url)
            file = try TilesetFile.read(url)
        }
        file.notes.forEach(Console.note)
        if let path = file.source.path { try FileKind.requireFile(URL(filePath: path)) }
        return file
    }

    /// Refuses an address of a kind that nothing reads, which would be taken for a missing file.
    private static func checkKind(_ named: String, _ file: URL) throws {
        guard named.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.-]+:/) != nil, !FileKind.isThere(file) else { return }
        throw CLIError(
            .usage, "--tileset '\(named.prefix(200))' is an address of an unknown kind",
            hint: "give a tileset file, \(SourceScheme.words)")
    }

    /// Reads the documents that the file refers to (TileJSON, metadata of an archive).
    static func complete(_ file: TilesetFile) async throws -> Tileset { try await pinned(file).tileset }

    /// The same with the version of the archive that was read; `nil` for tile servers.
    static func pinned(_ file: TilesetFile) async throws -> (tileset: Tileset, version: String?) {
        guard !file.hasLanguages || file.language != nil else {
            throw CLIError(
                .usage, "the tileset has {language} in its url",
                hint: "pass --language en, or set language in the file")
        }
        let found = try await OriginMetadata.pinned(file, environment: ProcessInfo.processInfo.environment)
        found.remarks.forEach(Console.warning)
        if let build = found.tileset.build {
            Console.note(PinnedBuild(build, version: found.version).text)
        }
        return (found.tileset, found.version)
    }
}
