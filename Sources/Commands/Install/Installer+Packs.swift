import Catalog
import Foundation
import Shards

extension Installer {
    /// The tile packs of one region, and which of them are not there.
    struct PackStep: Sendable {
        let region: InstallFolder.Packs
        let edition: CatalogEdition
        /// The list as it is published.
        let list: [UInt8]
        let missing: [CatalogPackList.Pack]
        /// Bytes of the packs that are missing.
        var bytes: Int64 { missing.reduce(0) { $0 + $1.size } }
    }

    /// What is to be done for the packs of a region; nothing is changed.
    ///
    /// Packs that another region brought are there, or will be.
    ///
    /// - Parameter planned: Regions that are installed before this one.
    /// - Throws: ``CLIError`` 66 when the region has no packs; 65 for a list that is not the catalog's, and for more packs in all than
    ///   the catalog allows on a device.
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
                hint: "the catalog may have changed just now: try again")
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

    /// Where the list of a package's tile packs is, and the version that it is of.
    ///
    /// - Throws: ``CLIError`` 66 when it has none.
    func packList(
        of package: CatalogIndex.Package
    ) throws -> (list: CatalogIndex.List, version: CatalogIndex.Version) {
        guard let list = package.tilePacks, let version = package.versions.first else {
            throw CLIError(
                .noInput, "package '\(package.id)' is not there as tile packs",
                hint:
                    "install it whole, without --tile-packs; its publisher builds packs with 'packhorse submit --tile-packs'"
            )
        }
        return (list, version)
    }

    /// Fetches what is missing, proves it, and puts the list there last.
    ///
    /// Packs of the version before that no region has any more go afterwards.
    /// - Throws: ``CLIError`` 65 when a pack's bytes are not those of the list; 66, 69, 73, 74.
    func run(_ step: PackStep) async throws {
        for pack in step.missing {
            try Task.checkCancellation()
            guard let digest = Digest(hex: pack.sha256), let size = UInt64(exactly: pack.size) else {
                throw CLIError(.badData, "the list of packs gives '\(pack.url)' no usable size or digest")
            }
            let part = try folder.download(pack.sha256)
            let file = try await fetch(step.edition.path + pack.path, size: size, sha256: digest, to: part)
            try folder.bring(file, to: folder.place(pack.path, group: step.region.group))
        }
        let list = folder.folder.appending(path: step.region.list)
        try Durable.makeFolder(list.deletingLastPathComponent())
        try Durable.write(step.list, to: list)
        try folder.note(step.region)
    }

    /// Whether a pack is there with its very bytes.
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
