import Catalog
import CatalogFormat
internal import CatalogTransfer
internal import CommandSupport
import Errors
import Files
import Foundation
internal import TextFormats

extension Installer {
    /// The tile packs of one region, and which of them are missing.
    struct PackStep: Sendable {
        let region: InstallFolder.Packs
        let edition: CatalogEdition
        /// The list as it is published.
        let list: [UInt8]
        let missing: [CatalogPackList.Pack]
        /// Total size of the missing packs in bytes.
        var bytes: Int64 { missing.reduce(0) { $0 + $1.size } }
    }

    /// The step for the packs of a region.
    ///
    /// Changes nothing.
    ///
    /// Packs of another region exist already, or will exist.
    ///
    /// - Parameter planned: Regions that are installed before this one.
    /// - Throws: ``CLIError`` 66 when the region has no packs; 65 for a list that does not match the catalog, and for
    ///   more packs in total than the catalog allows on a device.
    func packStep(
        _ id: String, group: String?, language: String?, planned: [InstallFolder.Packs] = []
    ) async throws -> PackStep {
        let (edition, package) = try find(id, group: group, language: language)
        let (listed, version) = try packList(of: package)
        guard let bytes = try await source.read(listed.url), Int64(bytes.count) == listed.size,
            Digest(of: bytes).hex == listed.sha256
        else {
            throw CLIError(
                .badData, "'\(source.name)\(listed.url)' is not the list of packs that the catalog names",
                hint: "the catalog may have just changed; try again")
        }
        let packs = try CatalogPackList(decoding: bytes, named: listed.url).packs
        let region = InstallFolder.Packs(
            id: id, group: group, language: edition.language, version: version.version,
            list: folder.place(CatalogPackList.path(id), group: group),
            packs: Set(packs.map { folder.place($0.path, group: group) }).sorted())
        try checkLimit(region, planned)
        let coming = Set(planned.flatMap(\.packs))
        var missing: [CatalogPackList.Pack] = []
        for pack in packs where !coming.contains(folder.place(pack.path, group: group)) {
            if try await !holds(pack, group: group) { missing.append(pack) }
        }
        return PackStep(region: region, edition: edition, list: bytes, missing: missing)
    }

    /// The location of the list of a package's tile packs, and its version.
    ///
    /// - Throws: ``CLIError`` 66 when it has none.
    func packList(
        of package: CatalogIndex.Package
    ) throws -> (list: CatalogIndex.List, version: CatalogIndex.Version) {
        guard let list = package.tilePacks, let version = package.versions.first else {
            throw CLIError(
                .noInput, "package '\(package.id)' is not available as tile packs",
                hint:
                    "install the whole package, without --tile-packs; the publisher creates packs with 'packhorse submit --tile-packs'"
            )
        }
        return (list, version)
    }

    /// Fetches and verifies the missing packs, and writes the list last.
    ///
    /// Packs of the previous version that no region uses any more are removed afterwards.
    /// - Throws: ``CLIError`` 65 when a pack's bytes do not match the list; 66, 69, 73, 74.
    func run(_ step: PackStep) async throws {
        for pack in step.missing {
            try Task.checkCancellation()
            guard let digest = Digest(hex: pack.sha256), let size = UInt64(exactly: pack.size) else {
                throw CLIError(.badData, "the list of packs gives '\(pack.url)' no usable size or digest")
            }
            let part = try folder.download(pack.sha256)
            let file = try await fetch(step.edition.path + pack.path, size: size, sha256: digest, to: part)
            try folder.move(file, to: folder.place(pack.path, group: step.region.group))
        }
        let list = folder.folder.appending(path: step.region.list)
        try Durable.makeFolder(list.deletingLastPathComponent())
        try Durable.write(step.list, to: list)
        try folder.save(step.region)
    }

    /// Whether a pack exists with exactly its bytes.
    private func holds(_ pack: CatalogPackList.Pack, group: String?) async throws -> Bool {
        let file = folder.folder.appending(path: folder.place(pack.path, group: group))
        guard FileKind.isThere(file) else { return false }
        return try await FileWork.run { try Digest.ofFile(file) }.digest.hex == pack.sha256
    }

    private func checkLimit(_ region: InstallFolder.Packs, _ planned: [InstallFolder.Packs]) throws {
        let others = (try folder.regions() + planned).filter { $0.list != region.list }
        let all = Set(others.flatMap(\.packs)).union(region.packs).count
        let most = document.index.limits.tilePacksPerDevice
        guard all > most else { return }
        throw CLIError(
            .badData,
            "with '\(region.id)' there would be \(Units.count(all, of: "tile pack")) in '\(folder.folder.path)'; the catalog allows \(most)",
            hint: "remove regions with packhorse uninstall, or install packages whole, without --tile-packs")
    }
}
