internal import CatalogTransfer
internal import ClusterClient
internal import CommandSupport
internal import Digests
import Errors
import Files
import Foundation
internal import PackageFiles
internal import Packages
internal import TextFormats
import Wire

/// A file that a job has published.
struct PublishedFile: Sendable {
    /// Its path on the coordinator's machine.
    let path: String
    let sha256: Digest
    let size: UInt64
    /// The tiles of its package.
    let tiles: UInt64?
}

extension PublishedFile {
    /// A file of a part; `nil` when it was not published.
    init?(_ file: PBPackageFile) {
        guard !file.path.isEmpty, let sha256 = Digest(bytes: [UInt8](file.sha256)) else { return nil }
        self.init(path: file.path, sha256: sha256, size: file.size, tiles: file.tiles)
    }
}

extension PBJobStatus {
    /// The file of a package in a format; `nil` when the package was not published.
    func file(of output: BuildOutput) -> PublishedFile? {
        guard let package = packages.first(where: { $0.id == output.package }) else { return nil }
        let file = package.files.first { $0.format == output.format.rawValue }
        // A folder is written from the package.
        let isMain = output.format == .mbtiles || output.format.isFolder
        guard let path = isMain ? package.path : file?.path, !path.isEmpty,
            let bytes = isMain ? package.sha256 : file?.sha256, let sha256 = Digest(bytes: [UInt8](bytes)),
            let size = isMain ? package.size : file?.size, !isMain || size > 0
        else { return nil }
        return PublishedFile(path: path, sha256: sha256, size: size, tiles: package.tiles == 0 ? nil : package.tiles)
    }
}

/// The place from which a build takes its finished files.
struct BuildSource: Sendable {
    /// Whether the catalog has other users, so that its files are copied.
    let isShared: Bool
    /// The catalog as reachable from this machine; `nil` = use the paths that the coordinator names.
    let catalog: CatalogSource?
    /// The folder for files that are being transferred.
    let incoming: URL

    /// Verifies a file and moves it to its destination.
    ///
    /// - Throws: ``CLIError`` 65 for a damaged file, 69 for one that cannot be reached, 73 for an output that may not
    ///   be replaced.
    func place(_ file: PublishedFile, as output: BuildOutput, mark: String, replacing: Bool) async throws
        -> BuildReport.File
    {
        let source = try await local(file, output)
        let report = try await FileWork.run { try PackageCheck.verify(source, mask: output.mask) }
        guard report.isVerified else {
            // Its SHA-256 is the published one, so the disk is not at fault.
            throw CLIError(
                .badData,
                "\(output.name) was written with \(Units.count(report.problemCount, of: "problem")), and is not kept",
                details: EqualCauses.lines(report.problems.map(\.description)),
                hint: "this is a bug in Packhorse: report it with these lines")
        }
        guard !output.format.isFolder else {
            return try await write(output, from: source, mark: mark, replacing: replacing)
        }
        let (isShared, incoming) = (isShared, incoming)
        let isNew = try await FileWork.run {
            try OutputFile.put(
                source, at: output.url, sha256: file.sha256, mayLink: !isShared, mark: mark,
                by: incoming.appending(path: "placing"), replacing: replacing)
        }
        return BuildReport.File(output, size: file.size, sha256: file.sha256.hex, tiles: file.tiles, isNew: isNew)
    }

    /// Writes a folder of tiles from its package; one that this build wrote before stays as it is.
    private func write(_ output: BuildOutput, from package: URL, mark: String, replacing: Bool) async throws
        -> BuildReport.File
    {
        let isMarked = FileMark.read(output.url) == mark
        if isMarked, !replacing {
            let report = try await FileWork.run { try PackageCheck.verify(output.url, mask: output.mask) }
            if report.isVerified, let digest = try? TileFolder(output.url).digest() {
                return BuildReport.File(
                    output, size: report.size, sha256: digest.hex, tiles: report.tiles, isNew: false)
            }
        }
        // In this task, so that an interruption ends it.
        let receipt = try PackageExport.write(
            from: package, format: output.format, to: output.url, replacing: replacing || isMarked, mark: mark
        ) { _ in try Task.checkCancellation() }
        return BuildReport.File(
            output, size: receipt.size, sha256: receipt.digest.hex, tiles: receipt.tiles, isNew: true)
    }

    /// The published file, on this machine and with the expected bytes.
    private func local(_ file: PublishedFile, _ output: BuildOutput) async throws -> URL {
        guard let catalog else {
            let url = URL(filePath: file.path)
            let found = FileKind.isThere(url) ? try await FileWork.run { try Digest.ofFile(url) } : nil
            guard let found, found == (file.sha256, file.size) else {
                throw CLIError(
                    .unavailable,
                    "'\(file.path)', where the coordinator published \(output.name), is not the same file on this machine",
                    hint: isShared
                        ? "pass the address or folder of the catalog: --files-from https://HOST/ or a folder"
                        : "check the disk, then build again with --restart")
            }
            return url
        }
        var lists = CatalogLists(catalog)
        try await lists.read(try await CatalogDocument.read(catalog, key: nil)?.index)
        guard let listed = lists.files.values.first(where: { $0.sha256 == file.sha256 && $0.size == file.size }) else {
            throw CLIError(
                .unavailable,
                "the catalog '\(catalog.name)' does not list \(output.name) (SHA-256 \(file.sha256.hex)), which the cluster has published",
                hint: "is --files-from the catalog of this coordinator, and is it up to date?")
        }
        try OutputLocation.makeFolder(incoming)
        let format = output.format.isFolder ? .mbtiles : output.format
        let target = incoming.appending(path: "\(file.sha256.hex)\(format.fileExtension)")
        guard let url = try await catalog.file(listed.path, size: file.size, sha256: file.sha256, to: target) else {
            throw CLIError(.unavailable, "'\(catalog.name)\(listed.path)' is listed but cannot be fetched")
        }
        return url
    }
}
