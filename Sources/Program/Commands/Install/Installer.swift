import Blobs
import CatalogFormat
internal import CatalogTransfer
internal import CommandSupport
import Errors
import Files
import Foundation
import PackageFiles

/// Installs packages of a catalog into a client's folder.
struct Installer: Sendable {
    /// One file to install, and how.
    struct Step: Sendable {
        let package: CatalogIndex.Package
        let edition: CatalogEdition
        let version: CatalogIndex.Version
        let file: CatalogIndex.File
        let plan: InstallPlan
        /// Path inside the folder.
        let target: String
        /// The installed version.
        let installed: Int32?
        /// The language of the installed file if it is of another channel; "" for none.
        let otherLanguage: String?

        /// Notes for a user who asked for a language.
        func notes(asked language: String?) -> [String] {
            var notes: [String] = []
            if let language, edition.language != language {
                notes.append("the catalog does not have it in '\(language)'; using the package without a language")
            }
            if let otherLanguage, plan != .upToDate {
                let names = [otherLanguage, edition.language ?? ""].map {
                    $0.isEmpty ? "the one without a language" : "'\($0)'"
                }
                notes.append("replaces the package of another language: \(names[1]) instead of \(names[0])")
            }
            return notes
        }
    }

    let source: CatalogSource
    let document: CatalogDocument
    let folder: InstallFolder
    /// Shows the progress of downloads.
    var downloads: DownloadMeter?

    /// Checks whether the catalog has the object.
    ///
    /// - Throws: ``CLIError`` 66 naming the existing ones.
    func check(_ wish: InstallWish) throws {
        switch wish {
        case .package(let id, let group, let language, let format):
            _ = try newest(try find(id, group: group, language: language).package, format)
        case .packs(let id, let group, let language):
            _ = try packList(of: try find(id, group: group, language: language).package)
        case .style(let id): _ = try findStyle(id)
        }
    }

    /// A package in the wanted language, otherwise the one without a language.
    func find(
        _ id: String, group: String?, language: String?
    ) throws -> (edition: CatalogEdition, package: CatalogIndex.Package) {
        let choices = try (language.map { [$0, nil] } ?? [nil]).map { try CatalogEdition(group: group, language: $0) }
        for edition in choices {
            if let package = document.index.package(id, in: edition) { return (edition, package) }
        }
        throw CLIError(
            .noInput, "catalog '\(source.name)' has no package '\(id)'" + (group.map { " in group '\($0)'" } ?? ""),
            hint: "list its packages: packhorse install '\(source.name)'")
    }

    /// A package's newest version, and its file of a format.
    ///
    /// - Throws: ``CLIError`` 66 naming the existing formats.
    func newest(
        _ package: CatalogIndex.Package, _ format: String
    ) throws -> (version: CatalogIndex.Version, file: CatalogIndex.File) {
        guard let version = package.versions.first else {
            throw CLIError(.noInput, "package '\(package.id)' has no version")
        }
        guard let file = version.file(format) else {
            throw CLIError(
                .noInput,
                "package '\(package.id)' is not available as \(format), only as \(version.files.map(\.format).joined(separator: ", "))"
            )
        }
        return (version, file)
    }

    /// The step for a package of the base map or of a group.
    ///
    /// Changes nothing.
    ///
    /// If the catalog does not have it in the requested language, the package without a language is used.
    ///
    /// - Throws: ``CLIError`` 66 naming the existing ones.
    func step(_ id: String, group: String?, language: String?, format: String) async throws -> Step {
        let (edition, package) = try find(id, group: group, language: language)
        let (version, file) = try newest(package, format)
        let name = file.url.split(separator: "/").last.map(String.init) ?? ""
        guard name.hasPrefix(id + "."), name.utf8.count <= 200 else {
            throw CLIError(.badData, "the file '\(file.url)' of package '\(id)' has another package's name")
        }
        let target = folder.place(id, group: group, fileExtension: String(name.dropFirst(id.count)))
        let local = folder.folder.appending(path: target)
        let has: String? =
            FileManager.default.fileExists(atPath: local.path)
            ? try await FileWork.run { try Digest.ofFile(local).digest.hex } : nil
        let noted = try folder.entry(target)
        // Another channel counts its own versions.
        let isOfEdition = noted?.group == edition.group && noted?.language == edition.language
        let installed =
            package.versions.first { $0.file(format)?.sha256 == has }?.version
            ?? (isOfEdition && noted?.sha256 == has ? noted?.version : nil)
        guard has == nil || noted != nil || installed != nil else {
            throw CLIError(
                .cannotCreate, "'\(local.path)' exists and was not installed from a catalog",
                hint: "move it away, or install into another folder")
        }
        guard let plan = InstallPlan(to: version, format: format, having: has, installed: installed) else {
            throw CLIError(.noInput, "package '\(id)' is not available as \(format)")
        }
        return Step(
            package: package, edition: edition, version: version, file: file, plan: plan, target: target,
            installed: installed,
            otherLanguage: noted.flatMap { $0.language == edition.language ? nil : $0.language ?? "" })
    }

    /// Carries out a step: fetches, verifies, installs.
    ///
    /// If a patch cannot be used (damaged on the server, or made for another layout), the whole file is fetched in
    /// addition. The old file is not changed until the new one is complete and verified.
    /// - Throws: ``CLIError`` 65 when the server's bytes do not match the catalog; 66, 69, 73, 74.
    func run(_ step: Step, _ report: (String) -> Void) async throws {
        guard let sha256 = Digest(hex: step.file.sha256), let size = UInt64(exactly: step.file.size) else {
            throw CLIError(.badData, "the catalog gives '\(step.file.url)' no usable size or digest")
        }
        switch step.plan {
        case .upToDate:
            return try folder.save(entry(step))
        case .patch(let patch):
            do {
                return try folder.install(try await patched(step, with: patch, sha256: sha256), as: entry(step))
            } catch let error as PackagesError where error.code != .diskFull {
                report("the patch cannot be used, fetching the whole file: \(error.message)")
            } catch let error as CatalogTransferError where error.code == .badCatalog {
                report("the patch cannot be used, fetching the whole file: \(error.message)")
            } catch let error as CLIError where error.status == .badData || error.status == .noInput {
                report("the patch cannot be used, fetching the whole file: \(error.message)")
            }
        case .whole: break
        }
        let part = try folder.download(step.file.sha256)
        let finished = try await fetch(step.file.url, size: size, sha256: sha256, to: part)
        try folder.install(finished, as: entry(step))
    }

    /// The new file, made from the installed one and a patch.
    private func patched(_ step: Step, with patch: CatalogIndex.Patch, sha256: Digest) async throws -> URL {
        guard let digest = Digest(hex: patch.sha256), let size = UInt64(exactly: patch.size) else {
            throw CLIError(.badData, "the catalog gives '\(patch.url)' no usable size or digest")
        }
        let part = try folder.download(patch.sha256)
        let file = try await fetch(patch.url, size: size, sha256: digest, to: part)
        let (old, new) = (folder.folder.appending(path: step.target), try folder.download(step.file.sha256))
        // A download that stays behind is removed when its age is over.
        defer { try? Durable.remove(part) }
        try await FileWork.run {
            _ = try Patch.apply(file, to: old, into: new, replacing: true, expecting: sha256)
        }
        return new
    }

    /// A file of the catalog, with a name in the download folder, so that it can be renamed.
    func fetch(_ path: String, size: UInt64, sha256: Digest, to part: URL) async throws -> URL {
        let get = { try await source.file(path, size: size, sha256: sha256, to: part) }
        let file: URL? =
            if let downloads { try await downloads.follow(path, file: part, size: size, get) } else { try await get() }
        guard let found = file else {
            throw CLIError(
                .noInput, "'\(source.name)\(path)' does not exist",
                hint: "the catalog may have just changed; try again")
        }
        if found != part { try await FileWork.run { try Durable.copy(found, to: part) } }
        return part
    }

    private func entry(_ step: Step) -> InstallFolder.Entry {
        InstallFolder.Entry(
            id: step.package.id, group: step.edition.group, language: step.edition.language, format: step.file.format,
            version: step.version.version, file: step.target, size: step.file.size, sha256: step.file.sha256,
            attribution: step.version.attribution, dataDate: step.version.dataDate)
    }
}
