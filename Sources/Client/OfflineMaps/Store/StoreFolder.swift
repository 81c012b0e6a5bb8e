internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import Tiles

/// The layout of a store's folder: where each file lies.
///
/// All parts of a path that come from a catalog or an app are made safe: a path never leaves the folder.
struct StoreFolder: Sendable, Hashable {
    /// What `units` is divided into.
    enum Kind: String, Sendable, CaseIterable, Codable {
        case package, style, adopted, region
    }

    /// Bytes of the file that is released when the disk is full.
    static let reserveBytes = 1 << 20

    /// The folder itself.
    let root: URL

    init(_ root: URL) { self.root = root.absoluteURL }

    /// What is installed, wanted and held.
    var database: URL { root.appending(path: "store.sqlite") }
    /// Held by the process that does the work.
    var lock: URL { root.appending(path: "lock") }
    /// 1 MiB that is released on a full disk.
    var reserve: URL { root.appending(path: "reserve") }
    /// What was viewed.
    var ambient: URL { root.appending(path: "ambient.sqlite") }
    /// Downloads in progress.
    var parts: URL { root.appending(path: "parts", directoryHint: .isDirectory) }
    /// Installed packages, styles and adopted files.
    var units: URL { root.appending(path: "units", directoryHint: .isDirectory) }
    /// Tile packs.
    var packs: URL { root.appending(path: "packs", directoryHint: .isDirectory) }
    /// Packs that are filled tile by tile.
    var filling: URL { root.appending(path: "filling", directoryHint: .isDirectory) }

    /// Makes the folder and its sub-folders.
    ///
    /// - Throws: `folder`, `disk-full`.
    func make() throws(StoreError) {
        do throws(StorageError) {
            for folder in [root, parts, units, packs, filling] { try Durable.makeFolder(folder) }
        } catch { throw StoreError.storage(error, "The folder of the store cannot be made.", folder: true) }
    }

    /// The part file of a download; any task that wants the same bytes continues it.
    ///
    /// - Returns: `nil` for a text that is no SHA-256.
    func part(sha256: String) -> URL? {
        guard Digest(hex: sha256)?.hex == sha256 else { return nil }
        return parts.appending(path: "\(sha256).part")
    }

    /// The folder of one version of a unit.
    func unit(_ kind: Kind, _ edition: Edition, id: String, version: Int32, sha256: String) -> URL {
        units.appending(path: kind.rawValue).appending(path: Self.component(edition.folder))
            .appending(path: Self.component(id))
            .appending(path: "\(version)-\(Self.component(String(sha256.prefix(8))))", directoryHint: .isDirectory)
    }

    /// A tile pack: its name has the first half of its digest.
    func pack(_ tileset: String, _ tile: TileID, sha256: String) -> URL {
        packs.appending(path: Self.component(tileset)).appending(path: "\(tile.zoom)/\(tile.x)/\(tile.y)")
            .appending(path: "\(Self.component(String(sha256.prefix(16)))).mbtiles")
    }

    /// The path below the folder, as rows keep it: the folder of an app can move.
    func relative(_ url: URL) -> String? {
        let (base, path) = (root.path, url.absoluteURL.path)
        guard path.hasPrefix(base + "/") else { return nil }
        return String(path.dropFirst(base.count + 1))
    }

    /// The file of a path in a row; `nil` for a path that leaves the folder.
    func file(_ path: String) -> URL? {
        // Bytes and not characters: with a combining mark after it, a slash is another character.
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let leaves = parts.contains { part in
            part.isEmpty || part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8) || part.contains(0)
        }
        guard !parts.isEmpty, !leaves else { return nil }
        return root.appending(path: path)
    }

    /// A text as one name of a file: letters, digits and `._-(),` stay, other bytes become `%` and two digits.
    ///
    /// Different texts give different names. Texts beyond 150 bytes end in their digest.
    static func component(_ text: String) -> String {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-(),".utf8)
        var name = ""
        for (index, byte) in text.utf8.enumerated() {
            if allowed.contains(byte), !(index == 0 && byte == UInt8(ascii: ".")) {
                name.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                name += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        if name.isEmpty { return "%" }
        guard name.utf8.count > 150 else { return name }
        return String(name.prefix(100)) + "%-" + String(Digest(of: Array(text.utf8)).hex.prefix(32))
    }
}

extension Edition {
    /// The edition as one text: `main`, `de`, `terrain`, `terrain+de` with the group marked.
    var folder: String {
        switch (group, language) {
        case (nil, nil): "main"
        case (nil, let language?): "l,\(language)"
        case (let group?, nil): "g,\(group)"
        case (let group?, let language?): "g,\(group),l,\(language)"
        }
    }
}

extension StoreError {
    /// An error of files; a full disk has its own code.
    static func storage(_ error: StorageError, _ message: String, folder: Bool = false) -> StoreError {
        StoreError(
            error.code == .diskFull ? .diskFull : folder ? .folder : .storage, "\(message) \(error.message)",
            advice: error.code == .io ? error.hint ?? (folder ? folderAdvice : diskAdvice) : error.hint, cause: error,
            isRetriable: error.code == .diskFull)
    }
}
