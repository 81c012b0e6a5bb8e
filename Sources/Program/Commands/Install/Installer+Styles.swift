import CatalogFormat
internal import CatalogTransfer
internal import CommandSupport
import Errors
import Files
import Foundation

extension Installer {
    /// One style pack to install.
    struct StyleStep: Sendable {
        let style: CatalogIndex.Style
        /// Path inside the folder.
        let target: String
        let isThere: Bool
    }

    /// A style of the catalog.
    ///
    /// - Throws: ``CLIError`` 66 naming the existing styles.
    func findStyle(_ id: String) throws -> CatalogIndex.Style {
        let styles = document.index.styles ?? []
        guard let style = styles.first(where: { $0.id == id }) else {
            throw CLIError(
                .noInput, "catalog '\(source.name)' has no style '\(id)'",
                hint: styles.isEmpty ? "it has no styles" : "it has \(styles.map(\.id).joined(separator: ", "))")
        }
        return style
    }

    /// The step for a style.
    ///
    /// Changes nothing.
    ///
    /// - Throws: ``CLIError`` 66 naming the existing styles.
    func styleStep(_ id: String) async throws -> StyleStep {
        let style = try findStyle(id)
        let target = "styles/\(style.id).zip"
        let file = folder.folder.appending(path: target)
        let isThere =
            FileKind.isThere(file)
            ? try await FileWork.run { try Digest.ofFile(file) }.digest.hex == style.sha256 : false
        return StyleStep(style: style, target: target, isThere: isThere)
    }

    /// Fetches a missing style pack, verifies it by its hash, and replaces the previous one.
    ///
    /// - Throws: ``CLIError`` 65 when its bytes do not match the catalog; 66, 69, 73, 74.
    func run(_ step: StyleStep) async throws {
        let style = step.style
        if !step.isThere {
            guard let digest = Digest(hex: style.sha256), let size = UInt64(exactly: style.size) else {
                throw CLIError(.badData, "the catalog gives '\(style.url)' no usable size or digest")
            }
            let part = try folder.download(style.sha256)
            try folder.move(try await fetch(style.url, size: size, sha256: digest, to: part), to: step.target)
        }
        try folder.save(
            InstallFolder.Style(id: style.id, version: style.version, file: step.target, sha256: style.sha256))
    }
}
