internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation
import PackageFiles
import Packages
import Tiles
import Wire

/// A file that `build` makes.
struct BuildOutput: Sendable {
    /// The index of the job that makes it.
    let job: Int
    var package: String
    /// The name of a file that the build names, without language and extension.
    let stem: String
    let format: PackageFormat
    /// Empty for a package without a language.
    let language: String
    var url: URL
    /// The mask of its tiles.
    var mask: TileMask
    /// The largest size of a file in bytes; 0 for no limit.
    let maxFile: UInt64
    /// Which part of the package it is; `nil` for the whole one.
    var part: (number: Int, count: Int)?

    /// Its path as a user would write it.
    var name: String { Self.name(url) }

    /// A path as the user would write it.
    static func name(_ url: URL) -> String {
        let path = url.relativePath
        return path.hasPrefix("./") ? String(path.dropFirst(2)) : path
    }
}

/// The destination of the files of `build`: the value of `-o`, else the current folder.
struct BuildTarget {
    enum Place {
        case file(URL)
        case folder(URL)
        /// A path without an extension where no folder is: the file gets its extension; several files get a folder.
        case name(String)
        /// Standard output, which gets the one file when it is finished.
        case pipe
    }

    let place: Place
    /// The formats that the file's name allows.
    private let possible: [PackageFormat]

    /// - Parameter option: A file, recognised by its extension; an existing folder, or a name that ends with `/`, is a folder.
    /// - Throws: ``CLIError`` 64 for an unknown extension.
    init(_ option: String?) throws {
        guard let option else {
            (place, possible) = (.folder(URL(filePath: ".", directoryHint: .isDirectory)), [])
            return
        }
        guard option != PipedFile.name else {
            (place, possible) = (.pipe, [])
            return
        }
        let url = URL(filePath: option)
        let hasExtension = !url.pathExtension.isEmpty
        guard !option.hasSuffix("/"), !FileKind.isFolder(url) || hasExtension && TileFolder.isThere(url) else {
            (place, possible) = (.folder(URL(filePath: option, directoryHint: .isDirectory)), [])
            return
        }
        guard hasExtension else {
            (place, possible) = (.name(option), [])
            return
        }
        let formats = PackageFormat.possible(forName: option)
        guard !formats.isEmpty else {
            throw CLIError(
                .usage, "-o '\(option)' ends with .\(url.pathExtension), which is not a known format",
                hint:
                    "end it with one of \(PackageFormat.endings()), or with / for a folder; \(PackageFormat.endings(of: [.maplibre])) needs --style"
            )
        }
        (place, possible) = (.file(url), formats)
    }

    /// Sets the format from the file's name unless an option sets it.
    ///
    /// - Throws: ``CLIError`` 64 when the two contradict each other; `PackagesError` `unknown-format`.
    func fill(_ options: inout OutputOptions) throws {
        guard case .file(let url) = place, let meant = possible.first else { return }
        guard !options.formats.isEmpty else {
            options.formats = [meant.rawValue]
            return
        }
        let named = try PackageFormat.list(parsing: options.formats.joined(separator: ","))
        guard named.count == 1 else { throw Self.several(named.count, url) }
        guard named.allSatisfy(possible.contains) else {
            throw meant.contradicts(named[0], output: url.relativePath)
        }
    }

    /// The files of the jobs.
    ///
    /// - Throws: ``CLIError`` 64 when there are several and `-o` names a file.
    func files(_ drafts: [JobDraft]) throws -> [BuildOutput] {
        var files: [BuildOutput] = []
        for (job, draft) in drafts.enumerated() {
            let language = draft.publish.edition.language
            let infix = drafts.count > 1 && !language.isEmpty ? ".\(language)" : ""
            let stems = Dictionary(grouping: draft.packages.map(\.area)) { $0.fileStem.lowercased() }
            for package in draft.packages {
                let isOnly = stems[package.area.fileStem.lowercased()]?.count == 1
                let stem = isOnly ? package.area.fileStem : package.area.id
                for format in package.area.formats ?? draft.formats {
                    let url = url(of: "\(stem)\(infix)\(format.fileExtension)")
                    files.append(
                        BuildOutput(
                            job: job, package: package.area.id, stem: stem, format: format, language: language,
                            url: url, mask: package.mask,
                            maxFile: package.area.maxFile ?? draft.publish.maxFile))
                }
            }
        }
        if files.count > 1, case .file(let url) = place { throw Self.several(files.count, url) }
        if isPiped { try Self.checkPiped(files) }
        if files.count == 1, case .name(let name) = place {
            files[0].url = URL(filePath: name + files[0].format.fileExtension)
        }
        return files
    }

    private func url(of file: String) -> URL {
        switch place {
        case .file(let url): url
        case .folder(let folder): folder.appending(path: file)
        case .pipe: Self.pipeFolder.appending(path: file)
        case .name(let name): URL(filePath: name, directoryHint: .isDirectory).appending(path: file)
        }
    }

    /// What becomes of a name without an extension; `nil` for any other.
    func note(of files: [BuildOutput]) -> String? {
        guard case .name(let name) = place, let file = files.first else { return nil }
        return files.count == 1
            ? "note: -o '\(name)' has no extension, and no folder has this name: the file is '\(file.name)'; -o '\(name)/' makes a folder"
            : "note: -o '\(name)' becomes a folder for \(files.count) files"
    }

    /// The folder of an unfinished build: `.NAME.packhorse` next to a single file, `.packhorse` in a folder for several
    /// files.
    func stateFolder(of files: [BuildOutput]) -> URL {
        if files.count == 1, let file = files.first {
            let folder = file.url.deletingLastPathComponent()
            return folder.appending(path: ".\(file.url.lastPathComponent).packhorse", directoryHint: .isDirectory)
        }
        switch place {
        case .file(let url): return url.deletingLastPathComponent().appending(path: ".packhorse")
        case .folder(let folder): return folder.appending(path: ".packhorse", directoryHint: .isDirectory)
        case .pipe: return Self.pipeFolder.appending(path: ".packhorse", directoryHint: .isDirectory)
        case .name(let name): return URL(filePath: "\(name)/.packhorse", directoryHint: .isDirectory)
        }
    }

    /// Whether the file goes to standard output.
    var isPiped: Bool { if case .pipe = place { true } else { false } }

    /// Where the file of `-o -` is made, and stays until all of it was sent.
    static let pipeFolder = URL(filePath: ".packhorse-output", directoryHint: .isDirectory)

    private static func checkPiped(_ files: [BuildOutput]) throws {
        guard files.count == 1 else {
            throw CLIError(
                .usage, "-o - sends one file, but \(files.count) files will be made", hint: "use a folder: -o maps/")
        }
        guard !files[0].format.isFolder, files[0].maxFile == 0 else {
            throw CLIError(
                .usage, "-o - sends one file; --max-file and format \(PackageFormat.folder.rawValue) make several",
                hint: "use a folder: -o maps/")
        }
    }

    private static func several(_ count: Int, _ url: URL) -> CLIError {
        CLIError(
            .usage, "-o '\(url.relativePath)' is one file, but \(count) files will be made",
            hint: "use a folder: -o maps/")
    }
}
