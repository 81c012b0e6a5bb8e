internal import Errors
internal import Files
internal import Foundation

/// What lies in the folder of a store, whatever its rows say.
enum StoreScan {
    /// The files that have a unit file.
    struct Found: Sendable {
        var files: [InstalledFile] = []
        /// Sequences that the unit files name, by the names that the rules have for their sources.
        var sequences: [(source: String, number: UInt64)] = []
        /// Paths of unit files that do not describe their file.
        var refused: [String] = []
    }

    /// Whether anything lies where installed files are.
    ///
    /// - Throws: `folder` when a folder of these cannot be listed.
    static func hasInstalled(_ folder: StoreFolder) throws(StoreError) -> Bool {
        for home in [folder.units, folder.packs] where ![ENOENT, ENOTDIR].contains(absence(of: home)) {
            do {
                if try !FileManager.default.contentsOfDirectory(atPath: home.path).isEmpty { return true }
            } catch {
                throw StoreError(
                    .folder, "The folder of installed maps '\(home.path)' cannot be listed.",
                    advice: "Check its rights and its disk, then open it again.", cause: error)
            }
        }
        return false
    }

    /// The folders of all versions of files, as paths below the folder of the store: `units/package/main/EE/3-0123abcd`.
    static func unitFolders(_ folder: StoreFolder) -> [String] {
        var paths = [folder.units.lastPathComponent]
        // Kind, edition, id, version.
        for _ in 0..<4 {
            paths = paths.flatMap { path in names(folder.root.appending(path: path)).map { "\(path)/\($0)" } }
        }
        return paths
    }

    /// Reads the unit files of packages, styles and adopted files.
    ///
    /// - Parameter known: Folders of versions whose unit files are not read: reading one takes longer than the rest of
    ///   its part in opening a store.
    static func units(_ folder: StoreFolder, besides known: Set<String> = []) -> Found {
        var found = Found()
        for path in unitFolders(folder) where !path.hasSuffix(".new") && !known.contains(path) {
            let url = folder.root.appending(path: path).appending(path: InstalledFileDocument.name)
            if !path.hasPrefix("units/region/"), access(url.path, F_OK) == 0 { read(url, folder, into: &found) }
        }
        return found
    }

    private static func read(_ url: URL, _ folder: StoreFolder, into found: inout Found) {
        guard let document = InstalledFileDocument.read(url) else {
            return found.refused.append(folder.relative(url) ?? url.lastPathComponent)
        }
        var installed = document.file
        let file = url.deletingLastPathComponent().appending(path: installed.path)
        guard let path = folder.relative(file), let size = size(file), size == installed.bytes else {
            return found.refused.append(folder.relative(url) ?? url.lastPathComponent)
        }
        installed.path = path
        if installed.format == .styleArchive { installed.bytes = StyleFiles.bytes(file) }
        found.files.append(installed)
        guard let source = document.source, let sequence = source.sequence.map({ UInt64(clamping: $0) }) else { return }
        if let address = source.address { found.sequences.append((CatalogSource.address(address), sequence)) }
        if let key = source.key { found.sequences.append((CatalogSource.key(key), sequence)) }
    }

    /// Bytes of each part file, by its name without the suffix.
    static func parts(_ folder: StoreFolder) -> [String: UInt64] {
        var parts: [String: UInt64] = [:]
        for name in names(folder.parts) where name.hasSuffix(".part") {
            let digest = String(name.dropLast(".part".count))
            if let file = folder.part(sha256: digest), let size = size(file) { parts[digest] = size }
        }
        return parts
    }

    /// Files of `parts` that are neither part files nor journals of part files.
    static func strays(_ folder: StoreFolder) -> [URL] {
        let known = parts(folder)
        return names(folder.parts).filter { name in
            !known.keys.contains { name == "\($0).part" || name == "\($0).part-journal" }
        }.map { folder.parts.appending(path: $0) }
    }

    /// Reserves that a process was writing when it ended.
    static func reserveDrafts(_ folder: StoreFolder) -> [URL] {
        names(folder.root).filter { $0.hasPrefix(".\(folder.reserve.lastPathComponent).") }
            .map { folder.root.appending(path: $0) }
    }

    /// Files below `packs`, as paths below the folder.
    static func packs(_ folder: StoreFolder) -> [String] {
        var paths: [String] = []
        let files = FileManager.default.enumerator(atPath: folder.packs.path)
        while let path = files?.nextObject() as? String {
            let url = folder.packs.appending(path: path)
            guard !url.hasDirectoryPath, !isFolder(url), let relative = folder.relative(url) else { continue }
            paths.append(relative)
        }
        return paths.sorted()
    }

    /// Bytes of a file; `nil` when it is missing or may not be read.
    static func size(_ file: URL) -> UInt64? { isFile(file) ? try? FileDescriptor(reading: file).size : nil }

    /// Whether something is a file that can be read to its end: no folder, and no pipe, whose opening waits.
    static func isFile(_ url: URL) -> Bool {
        var status = stat()
        return stat(url.path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Why there is nothing at a place, as the system says; `nil` when there is something.
    static func absence(of url: URL) -> Int32? { access(url.path, F_OK) == 0 ? nil : errno }

    /// Bytes of all files below a folder.
    static func bytes(below folder: URL) -> UInt64 {
        var sum: UInt64 = 0
        let files = FileManager.default.enumerator(atPath: folder.path)
        while let path = files?.nextObject() as? String {
            let url = folder.appending(path: path)
            if !isFolder(url) { sum += size(url) ?? 0 }
        }
        return sum
    }

    /// A folder that cannot be listed counts as empty.
    private static func names(_ folder: URL) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    private static func isFolder(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    }
}
