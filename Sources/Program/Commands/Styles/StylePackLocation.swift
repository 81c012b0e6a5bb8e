internal import CommandSupport
import Errors
internal import Files
import Foundation
import StyleFormat
internal import TextFormats

/// A style pack as a folder: the given folder, or a ZIP archive that is unpacked during the lifetime of the value.
final class StylePackLocation {
    /// The folder.
    let folder: URL
    private let scratch: URL?

    /// Opens a folder or unpacks an archive.
    ///
    /// Its content is not verified yet.
    ///
    /// - Throws: ``CLIError`` 66 when nothing exists at the path; `StylesError` `bad-style-pack` for an unreadable
    ///   archive.
    init(_ url: URL) throws {
        try FileKind.requirePath(url)
        guard !FileKind.isFolder(url) else {
            (folder, scratch) = (url, nil)
            return
        }
        guard StoredZip.looksLikeZip(url) else {
            throw CLIError(.badData, "'\(url.path)' is neither a style pack's folder nor a ZIP archive")
        }
        let place = TemporaryName.forUse(as: "style")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        do {
            try StoredZip.unpack(url, into: place)
        } catch {
            // A scratch folder that stays behind is harmless; the first error is reported.
            try? FileManager.default.removeItem(at: place)
            throw CLIError(.badData, "'\(url.path)': \(Sentence.inner(error.message))")
        }
        guard StylePack.looksLikePack(place) else {
            // A scratch folder that stays behind is harmless; the first error is reported.
            try? FileManager.default.removeItem(at: place)
            throw CLIError(.badData, "the archive '\(url.path)' contains no style pack")
        }
        (folder, scratch) = (place, place)
    }

    deinit {
        // A scratch folder that stays behind is harmless.
        if let scratch { try? FileManager.default.removeItem(at: scratch) }
    }

    /// Whether a path is a style pack, as a folder or an archive.
    ///
    /// Recognised by content, not by name.
    static func looksLikePack(_ url: URL) -> Bool {
        FileKind.isFolder(url) ? StylePack.looksLikePack(url) : StoredZip.looksLikeZip(url)
    }
}
